import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
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
import { readGenerationConfig } from "../../src/models/generation-config.ts";
import { parameterSpecs } from "../../src/models/parameters.ts";
import { readSafetensors } from "../../src/models/safetensors.ts";
import { openDevice } from "../../src/onnx/device.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import common from "./decoder/common-config.json" with { type: "json" };
import configs from "./decoder/configs.json" with { type: "json" };
import golden from "./decoder/decoder.json" with { type: "json" };
import { formulaIds, formulaWeights } from "./decoder/formula-weights.mjs";

// decoder.json: made by decoder/decoder.py with the versions that it names; its gradients and logits were computed in float64.
const here = new URL("./decoder/", import.meta.url).pathname;
const folder = temporaryFolder();
const row: TrainingRow = {
  inputs: golden.ids.slice(0, -1),
  targets: golden.ids.slice(1),
  fields: { weights: golden.ids.slice(1).map(() => 1 / (golden.ids.length - 1)) },
};
type Name = keyof typeof configs;
const names = Object.keys(configs) as Name[];

/** The checkpoint that write-checkpoints.mjs wrote, from the same formula. */
function ours(name: Name): Checkpoint {
  const config = parseDecoderConfig({ ...common, ...configs[name] }, name);
  const named = formulaWeights(parameterSpecs(config));
  const weights = flatten(config, new Map(named.map((each) => [each.name, each])), name);
  return { config, weights };
}

const device = openDevice("cpu", 1);

async function logits({ config, weights }: Checkpoint): Promise<Float32Array> {
  const graph = new Graph();
  const parameters = declareParameters(graph, config);
  const ids = graph.input("ids", "int32", [1, row.inputs.length]);
  const scores = vocabularyScores(parameters, decoderRows(config, parameters, ids));
  const session = await createSession(graph, { scores }, { threads: 1 });
  const { feeds } = await modelWeights(config, weights, device);
  const given = tensorOf(Int32Array.from(row.inputs), ids.shape);
  return floats((await session.run({ ...feeds, ids: given }))["scores"]!);
}

describe.each(names)("%s in transformers", (name) => {
  const checkpoint = ours(name);

  it("has our logits, to 2e-4", async () => {
    const expected = await readSafetensors(join(here, `${name}.safetensors`));
    const actual = await logits(checkpoint);
    expectClose(actual, expected.get("logits")!.data, { atol: 2e-4, rtol: 0 });
  });

  it("loads what we write, and then has our logits and gradients too", async () => {
    const at = join(folder, name);
    await mkdir(at);
    await writeCheckpoint(at, checkpoint, { dtype: "F32", tokenizerFrom: at });
    const written = await readSafetensors(join(at, "model.safetensors"));
    const hash = createHash("sha256").update(await readFile(join(at, "config.json")));
    for (const key of [...written.keys()].sort()) hash.update(key).update(written.get(key)!.data);
    const { wayBack } = golden.models[name];
    // What decoder.py loaded and compared is what is written here.
    expect(hash.digest("hex")).toBe(wayBack.checkpoint);
    expect(wayBack.worstLogit).toBeLessThan(2e-4);
    expect(wayBack.worstGradient).toBeLessThan(1e-3);
  });
});

const withGradients = names.filter((name) => Object.keys(golden.models[name].scales).length > 0);

it.each(withGradients)(
  "%s in transformers has our loss and our gradient of every parameter, to 1e-3 of its norm",
  async (name) => {
    const { config, weights } = ours(name);
    const trainer = await makeTrainer(config, device, { lora: null });
    const model = await modelWeights(config, weights, device);
    const loss = { name: "cross-entropy", options: {} };
    const result = await trainer.forwardBackward(model, [row], microBatches([row], { maxTokens: 64 })[0]!, loss);
    expect(result.loss).toBeCloseTo(golden.models[name].loss, 5);
    const expected = await readSafetensors(join(here, `${name}.safetensors`));
    const scales: Readonly<Record<string, number>> = golden.models[name].scales;
    for (const { name: parameter, data } of unflatten(config, await trainer.gradients.read())) {
      // Stored as halves of the largest element: rounding alone is 2e-4 of the norm.
      const theirs = expected.get(`gradient.${parameter}`)!.data.map((x) => x * scales[parameter]!);
      const gap = Math.hypot(...data.map((each, i) => each - theirs[i]!));
      expect.soft(gap / Math.hypot(...theirs), parameter).toBeLessThan(1e-3);
    }
    expect(Object.keys(scales)).toHaveLength(parameterSpecs(config).length);
  },
);

describe("the golden weights", () => {
  it("come from the formula that decoder.py has", () => {
    expect(formulaIds(golden.ids.length, common.vocab_size)).toEqual(golden.ids);
  });
});

describe("a bfloat16 checkpoint that transformers saved in shards", () => {
  it("loads here and gives the same logits", async () => {
    const at = join(here, "from-transformers");
    const checkpoint = await readCheckpoint(at);
    const config = { architecture: "qwen3", ropeTheta: 20_000, headDim: 8, qkNorm: true };
    expect(checkpoint.config).toMatchObject(config);
    const expected = await readSafetensors(join(at, "logits.safetensors"));
    const actual = await logits(checkpoint);
    expectClose(actual, expected.get("logits")!.data, { atol: 2e-4, rtol: 0 });
    expect(await readGenerationConfig(at)).toMatchObject({ eosIds: [3, 5], bosId: 1 });
  });
});
