import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Graph } from "../../src/autodiff/graph.ts";
import type { TrainingRow } from "../../src/engine/engine.ts";
import { microBatches } from "../../src/engine/local/batching.ts";
import { modelWeights } from "../../src/engine/local/model-weights.ts";
import { makeTrainer } from "../../src/engine/local/trainer.ts";
import { flatten, readCheckpoint, unflatten, writeCheckpoint } from "../../src/models/checkpoint.ts";
import type { Checkpoint } from "../../src/models/checkpoint.ts";
import { parseDecoderConfig } from "../../src/models/config-json.ts";
import { declareParameters, decoderRows, vocabularyScores } from "../../src/models/decoder.ts";
import { initialWeights } from "../../src/models/initialise.ts";
import { readSafetensors } from "../../src/models/safetensors.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import configs from "./decoder/configs.json" with { type: "json" };
import golden from "./decoder/decoder.json" with { type: "json" };

// decoder.json: made by decoder/decoder.py with the versions that it names; its gradients and logits were computed in float64.
const here = new URL("./decoder/", import.meta.url).pathname;
const folder = temporaryFolder();
const row: TrainingRow = {
  inputs: golden.ids.slice(0, -1),
  targets: golden.ids.slice(1),
  fields: { weights: golden.ids.slice(1).map(() => 1 / (golden.ids.length - 1)) },
};

/** The checkpoint that write-checkpoints.mjs wrote, from the same seed. */
function ours(name: keyof typeof configs): Checkpoint {
  const config = parseDecoderConfig(configs[name], name);
  const named = new Map(initialWeights(config, 11).map((each) => [each.name, each]));
  return { config, weights: flatten(config, named, name).map((each) => each * 1.5) };
}

async function logits({ config, weights }: Checkpoint): Promise<Float32Array> {
  const graph = new Graph();
  const parameters = declareParameters(graph, config);
  const ids = graph.input("ids", "int32", [1, row.inputs.length]);
  const scores = vocabularyScores(parameters, decoderRows(config, parameters, ids));
  const session = await createSession(graph, { scores }, { threads: 1 });
  const { feeds } = await modelWeights(config, weights, 1);
  const given = tensorOf(Int32Array.from(row.inputs), ids.shape);
  return floats((await session.run({ ...feeds, ids: given }))["scores"]!);
}

describe.each(["llama", "qwen2"] as const)("a %s checkpoint in transformers", (name) => {
  const checkpoint = ours(name);

  it("is the one that we write", async () => {
    await mkdir(join(folder, name));
    const options = { dtype: "F32", tokenizerFrom: folder } as const;
    await writeCheckpoint(join(folder, name), checkpoint, options);
    const written = await readSafetensors(join(folder, name, "model.safetensors"));
    const hash = createHash("sha256");
    for (const key of [...written.keys()].sort()) hash.update(key).update(written.get(key)!.data);
    const digest = hash.digest("hex");
    expect(digest).toBe(golden.models[name].checkpoint);
  });

  it("has our logits, to 2e-4", async () => {
    const expected = await readSafetensors(join(here, `${name}.safetensors`));
    const actual = await logits(checkpoint);
    expectClose(actual, expected.get("logits")!.data, { atol: 2e-4, rtol: 0 });
  });

  it("has our loss and our gradient of every parameter, to 1e-3 of its norm", async () => {
    const { config, weights } = checkpoint;
    const trainer = makeTrainer(config, 1);
    const model = await modelWeights(config, weights, 1);
    const loss = { name: "cross-entropy", options: {} };
    const result = await trainer.forwardBackward(model, [row], microBatches([row], 64), loss);
    expect(result.loss).toBeCloseTo(golden.models[name].loss, 5);
    const expected = await readSafetensors(join(here, `${name}.safetensors`));
    for (const { name: parameter, data } of unflatten(config, trainer.gradients)) {
      const theirs = expected.get(`gradient.${parameter}`)!.data;
      const gap = Math.hypot(...data.map((each, i) => each - theirs[i]!));
      expect.soft(gap / Math.hypot(...theirs), parameter).toBeLessThan(1e-3);
    }
  });
});

describe("a checkpoint that transformers saved", () => {
  it("loads here and gives the same logits", async () => {
    const checkpoint = await readCheckpoint(join(here, "from-transformers"));
    expect(checkpoint.config).toMatchObject({ architecture: "qwen2", ropeTheta: 20_000, headDim: 8 });
    const expected = await readSafetensors(join(here, "from-transformers-logits.safetensors"));
    const actual = await logits(checkpoint);
    expectClose(actual, expected.get("logits")!.data, { atol: 2e-4, rtol: 0 });
  });
});
