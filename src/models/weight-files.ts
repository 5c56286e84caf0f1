import { existsSync } from "node:fs";
import { join } from "node:path";
import { DataError } from "../base/errors.ts";
import { readJson } from "../base/files.ts";
import { checkOptions, quote, z } from "../base/schema.ts";
import type { StoredTensor } from "./safetensors-header.ts";
import type { HalfNumbers } from "./stored-numbers.ts";
import { openSafetensors, type SafetensorsFile } from "./safetensors.ts";

/** The tensors of a model's folder, in one or several files; read one by one. */
export interface WeightFiles {
  /** The file with the list of tensors, for messages. */
  readonly where: string;
  readonly tensors: ReadonlyMap<string, StoredTensor & { readonly path: string }>;
  /** As `SafetensorsFile.read`. */
  read(name: string, into: Float32Array): Promise<void>;
  /** As `SafetensorsFile.readHalf`. */
  readHalf(name: string, into: HalfNumbers): Promise<void>;
  close(): Promise<void>;
}

const WHOLE = "model.safetensors";
const INDEX = "model.safetensors.index.json";

/** A shard is beside its index: a path to another folder is rejected. */
const shardName = z
  .string()
  .regex(/^[^/\\]+\.safetensors$/, "expected a file name in the index's folder");
const indexSchema = z.looseObject({ weight_map: z.record(z.string(), shardName) });

/** Whether a folder contains weights, whole or in shards. */
export function hasWeights(folder: string): boolean {
  return [WHOLE, INDEX].some((file) => existsSync(join(folder, file)));
}

/**
 * Opens `model.safetensors`, or the shards in `model.safetensors.index.json`.
 * @throws {DataError} FILE_MISSING when the folder has neither, or a shard is missing; CHECKPOINT_MISFIT when index and shards
 *   disagree; SAFETENSORS_BAD from `openSafetensors`.
 */
export async function openWeightFiles(folder: string): Promise<WeightFiles> {
  const whole = join(folder, WHOLE);
  const index = join(folder, INDEX);
  if (existsSync(whole)) {
    const file = await openSafetensors(whole);
    return gather(whole, new Map([...file.tensors.keys()].map((name) => [name, file])), [file]);
  }
  if (!existsSync(index)) {
    const pickle = existsSync(join(folder, "pytorch_model.bin"))
      ? " pytorch_model.bin is not supported: save the model again with safetensors."
      : "";
    throw new DataError(
      "FILE_MISSING",
      `${folder}: contains neither ${WHOLE} nor ${INDEX}, so there are no weights.${pickle}`,
    );
  }
  return openShards(folder, index);
}

async function openShards(folder: string, index: string): Promise<WeightFiles> {
  const misfit = (what: string): DataError =>
    new DataError("CHECKPOINT_MISFIT", `${index}: ${what}. Download or save the model again.`);
  const result = checkOptions(indexSchema, await readJson(index));
  if (result.problem !== null) {
    const { path, message } = result.problem;
    throw misfit(`${path.join(".") || "it"} ${message.replace(/\.$/, "")}`);
  }
  const map = Object.entries(result.value.weight_map);
  const open = new Map<string, SafetensorsFile>();
  try {
    for (const shard of new Set(map.map(([, name]) => name))) {
      const path = join(folder, shard);
      if (!existsSync(path))
        throw new DataError(
          "FILE_MISSING",
          `${path}: does not exist, but ${INDEX} lists it. Download the model again.`,
        );
      open.set(shard, await openSafetensors(path));
    }
    const places = new Map(map.map(([name, shard]) => [name, open.get(shard)!]));
    for (const [name, shard] of map) {
      if (!open.get(shard)!.tensors.has(name))
        throw misfit(`"${name}" should be in ${shard}, but is not`);
    }
    for (const [shard, { tensors }] of open) {
      const extra = [...tensors.keys()].find((name) => places.get(name) !== open.get(shard));
      if (extra !== undefined) {
        const said = quote(result.value.weight_map[extra]);
        throw misfit(`${shard} contains "${extra}", for which the index says ${said}`);
      }
    }
    return gather(index, places, [...open.values()]);
  } catch (error) {
    await Promise.all([...open.values()].map((file) => file.close()));
    throw error;
  }
}

function gather(
  where: string,
  places: ReadonlyMap<string, SafetensorsFile>,
  files: readonly SafetensorsFile[],
): WeightFiles {
  return {
    where,
    tensors: new Map(
      [...places].map(([name, { path, tensors }]) => [name, { ...tensors.get(name)!, path }]),
    ),
    read: (name, into) => places.get(name)!.read(name, into),
    readHalf: (name, into) => places.get(name)!.readHalf(name, into),
    close: async () => {
      await Promise.all(files.map((file) => file.close()));
    },
  };
}
