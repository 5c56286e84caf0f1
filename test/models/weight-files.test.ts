import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/base/errors.ts";
import { writeJson } from "../../src/base/files.ts";
import { readCheckpoint, unflatten } from "../../src/models/checkpoint.ts";
import { writeSafetensors, type NamedTensor } from "../../src/models/safetensors.ts";
import { openWeightFiles } from "../../src/models/weight-files.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyModel } from "../helpers/tiny-model.ts";

const folder = temporaryFolder();
const INDEX = "model.safetensors.index.json";

interface Sharded {
  at: string;
  whole: Awaited<ReturnType<typeof readCheckpoint>>;
  map: Record<string, string>;
}

/** A model whose tensors are dealt in turn to three shards, of three types. */
async function sharded(name: string): Promise<Sharded> {
  const at = await writeTinyModel(join(folder, name));
  const whole = await readCheckpoint(at);
  await rm(join(at, "model.safetensors"));
  const map: Record<string, string> = {};
  const shards: NamedTensor[][] = [[], [], []];
  unflatten(whole.config, whole.weights).forEach((tensor, i) => {
    shards[i % 3]!.push(tensor);
    map[tensor.name] = shardName(i % 3);
  });
  for (const [i, tensors] of shards.entries()) {
    await writeSafetensors(join(at, shardName(i)), tensors, "F32");
  }
  await writeJson(join(at, INDEX), { metadata: { total_size: 0 }, weight_map: map });
  return { at, whole, map };
}

function shardName(i: number): string {
  return `model-0000${i + 1}-of-00003.safetensors`;
}

async function refused(at: string, code: ErrorCode, message: string): Promise<void> {
  await expect(readCheckpoint(at)).rejects.toThrow(errorWith(code, message));
}

describe("a sharded checkpoint", () => {
  it("reads as the whole one does", async () => {
    const { at, whole } = await sharded("shards");
    expect(await readCheckpoint(at)).toEqual(whole);
  });

  it("tells where each tensor lies", async () => {
    const { at, map } = await sharded("places");
    const files = await openWeightFiles(at);
    for (const [name, { path, dtype }] of files.tensors) {
      expect([path, dtype]).toEqual([join(at, map[name]!), "F32"]);
    }
    expect(files.tensors.size).toBe(Object.keys(map).length);
    await files.close();
  });

  it("that lacks a shard says which", async () => {
    const { at } = await sharded("lacking");
    await rm(join(at, shardName(1)));
    const message = `${shardName(1)}: does not exist, but ${INDEX} lists it`;
    await refused(at, "FILE_MISSING", message);
  });

  it("whose shard is cut says which", async () => {
    const { at } = await sharded("cut");
    await writeFile(join(at, shardName(2)), "cut");
    await refused(at, "SAFETENSORS_BAD", `${shardName(2)}: is truncated: 3 bytes`);
  });

  it("whose index and shards disagree says on which tensor", async () => {
    const { at, map } = await sharded("swapped");
    const [first, second] = Object.keys(map) as [string, string];
    const weight_map = { ...map, [first]: map[second] };
    await writeJson(join(at, INDEX), { weight_map });
    const lacks = `"${first}" should be in ${shardName(1)}, but is not`;
    await refused(at, "CHECKPOINT_MISFIT", lacks);
    const { [first]: _, ...rest } = map;
    await writeJson(join(at, INDEX), { weight_map: rest });
    const holds = `${shardName(0)} contains "${first}", for which the index says missing`;
    await refused(at, "CHECKPOINT_MISFIT", holds);
  });

  it("whose index is none, or leads out of its folder, says so", async () => {
    const { at, map } = await sharded("elsewhere");
    await writeJson(join(at, INDEX), { weight_map: [] });
    await refused(at, "CHECKPOINT_MISFIT", "weight_map is []: expected keys and values");
    const outside = { ...map, "model.norm.weight": "../other.safetensors" };
    await writeJson(join(at, INDEX), { weight_map: outside });
    const message = 'weight_map.model.norm.weight is "../other.safetensors": expected a file name';
    await refused(at, "CHECKPOINT_MISFIT", message);
  });

  it("gives way to the whole file where both are there", async () => {
    const { at, whole } = await sharded("both");
    const tensors = unflatten(
      whole.config,
      whole.weights.map((each) => -each),
    );
    await writeSafetensors(join(at, "model.safetensors"), tensors, "F32");
    expect((await readCheckpoint(at)).weights[0]).toBe(-whole.weights[0]!);
  });
});

describe("a folder without safetensors", () => {
  it("is refused, with what there is instead", async () => {
    const at = await writeTinyModel(join(folder, "pickled"));
    await rename(join(at, "model.safetensors"), join(at, "pytorch_model.bin"));
    await refused(at, "FILE_MISSING", "pytorch_model.bin is not supported");
    await mkdir(join(folder, "empty"));
    const error = errorWith("FILE_MISSING", `contains neither model.safetensors nor ${INDEX}`);
    await expect(openWeightFiles(join(folder, "empty"))).rejects.toThrow(error);
  });
});
