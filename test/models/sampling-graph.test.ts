import { describe, expect, it } from "vitest";
import { Graph } from "../../src/autodiff/graph.ts";
import { logSoftmax } from "../../src/autodiff/ops/nn.ts";
import { random } from "../../src/base/random.ts";
import { cachedModel } from "../../src/engine/local/cached-model.ts";
import {
  adaptedWeights,
  modelWeights,
  type ModelWeights,
} from "../../src/engine/local/model-weights.ts";
import { flatten } from "../../src/models/checkpoint.ts";
import { plainFeatures, type DecoderConfig } from "../../src/models/config.ts";
import { declareParameters, decoderRows, vocabularyScores } from "../../src/models/decoder.ts";
import { initialWeights } from "../../src/models/initialise.ts";
import { initialAdapter, type LoraConfig } from "../../src/models/lora/lora.ts";
import { targetModules } from "../../src/models/lora/target-modules.ts";
import { openDevice } from "../../src/onnx/device.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";

const base: DecoderConfig = {
  ...plainFeatures,
  architecture: "llama",
  vocabSize: 61,
  hiddenSize: 32,
  layers: 3,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  intermediateSize: 40,
  normEpsilon: 1e-5,
  ropeTheta: 500,
  tiedEmbeddings: true,
  maxPositions: 256,
};
const device = openDevice("cpu", 1);
const llama3 = {
  type: "llama3",
  factor: 8,
  lowFrequencyFactor: 1,
  highFrequencyFactor: 4,
} as const;

/** Spread wider than fresh ones, biases and norms away from where they start. */
function weightsOf(config: DecoderConfig): Float32Array {
  const draw = random("weights");
  const named = new Map(initialWeights(config, 3).map((each) => [each.name, each]));
  for (const { shape, data } of named.values()) {
    if (shape.length === 1) data.forEach((each, i) => (data[i] = each + 0.3 * draw.normal()));
    else data.forEach((each, i) => (data[i] = 2 * each));
  }
  return flatten(config, named, "test");
}

/** The model, with adapters none of whose numbers is zero where there are some. */
async function modelOf(config: DecoderConfig, lora: LoraConfig | null): Promise<ModelWeights> {
  const base = await modelWeights(config, weightsOf(config), device);
  if (lora === null) return base;
  const draw = random("adapters");
  const { weights } = initialAdapter(config, lora, 1);
  const adapter = { lora, weights: weights.map(() => 0.2 * draw.normal()) };
  return adaptedWeights(config, base, adapter, device);
}

/** Log-probabilities of every token at every position of one row, as training computes them: [T · V]. */
async function asTrained(
  config: DecoderConfig,
  ids: readonly number[],
  lora: LoraConfig | null = null,
): Promise<Float32Array> {
  const graph = new Graph();
  const parameters = declareParameters(graph, config, lora);
  const tokens = graph.input("ids", "int32", [1, ids.length]);
  const scores = vocabularyScores(parameters, decoderRows(config, parameters, tokens, { lora }));
  const logs = logSoftmax([scores], { axis: -1 });
  const session = await createSession(graph, { logs }, { threads: 1 });
  const { feeds } = await modelOf(config, lora);
  const given = tensorOf(Int32Array.from(ids), tokens.shape);
  return floats((await session.run({ ...feeds, ids: given }))["logs"]!);
}

/** The largest gap over the tokens drawn between sampling's and training's log-probabilities, with a prompt filled and the rest stepped. */
async function worstGap(
  config: DecoderConfig,
  length: number,
  prompt: number,
  lora: LoraConfig | null = null,
  layout: Partial<ModelWeights> = {},
): Promise<number> {
  const draw = random("ids");
  const ids = Array.from({ length }, () => draw.int(config.vocabSize));
  const expected = await asTrained(config, ids, lora);
  const weights = { ...(await modelOf(config, lora)), ...layout };
  // Two slots: the second stands elsewhere, so that a mask of one would be wrong for the other.
  const model = await cachedModel(config, weights, { slots: 2, device });
  await model.fill(0, ids.slice(0, 70), 0);
  await model.fill(0, ids.slice(70, prompt), 70);
  await model.fill(1, ids.slice(0, 3), 0);
  let worst = 0;
  for (let at = prompt; at < length; at++) {
    const other = 3 + at - prompt;
    const newest = [at, other].map((position, slot) => {
      return {
        slot,
        id: ids[position]!,
        position,
        pick: { temperature: 1, topP: 1, topK: 0 },
        stream: draw,
      };
    });
    const drawn = await model.step(newest);
    for (const [slot, { position }] of newest.entries()) {
      const { id, logprob } = drawn[slot]!;
      worst = Math.max(worst, Math.abs(logprob - expected[position * config.vocabSize + id]!));
    }
  }
  return worst;
}

describe("what sampling gives with a cache", () => {
  it.each<[string, Partial<DecoderConfig>]>([
    ["plain layers", {}],
    ["biases", { qkvBias: true }],
    ["norms over heads", { qkNorm: true }],
    ["llama3's positions", { ropeScaling: { ...llama3, originalPositions: 32 } }],
    ["a window in every layer", { slidingWindow: { size: 8, fromLayer: 0 } }],
    ["a window of one token", { slidingWindow: { size: 1, fromLayer: 0 } }],
    [
      "a window in its last layers, longer than a cache step",
      { slidingWindow: { size: 66, fromLayer: 1 } },
    ],
  ])("equals what training gives whole: %s", async (_, features) => {
    // The prompt comes in two pieces, as of two turns; steps cross the cache's growth at 128.
    expect(await worstGap({ ...base, ...features }, 132, 84)).toBeLessThan(2e-5);
  });

  it.each<[string, LoraConfig]>([
    ["on every linear layer", { rank: 4, alpha: 8, rslora: false, targets: targetModules }],
    ["on some, scaled by √r", { rank: 3, alpha: 2, rslora: true, targets: ["q_proj", "up_proj"] }],
  ])("equals what training gives whole with adapters %s", async (_, lora) => {
    expect(await worstGap({ ...base, qkvBias: true }, 132, 84, lora)).toBeLessThan(2e-5);
  });

  it.each<[string, LoraConfig | null]>([
    ["a whole model", null],
    ["adapters", { rank: 4, alpha: 8, rslora: false, targets: targetModules }],
  ])("equals what training gives whole where the matrices are packed: %s", async (_, lora) => {
    const layout = { transposed: false };
    expect(await worstGap({ ...base, qkvBias: true }, 132, 84, lora, layout)).toBeLessThan(2e-5);
  });

  it("sees no further back than its windows reach", async () => {
    const config = { ...base, slidingWindow: { size: 4, fromLayer: 0 } };
    // Three layers of windows of four: position 40 depends on positions 31 to 40.
    const draw = random("reach");
    const ids = Array.from({ length: 41 }, () => draw.int(config.vocabSize));
    const last = async (changed: number): Promise<number[]> => {
      const other = ids.map((id, at) => (at === changed ? (id + 1) % config.vocabSize : id));
      return [...(await asTrained(config, other)).subarray(40 * config.vocabSize)];
    };
    const [whole, within, beyond] = await Promise.all([last(-1), last(31), last(30)]);
    expect(beyond).toEqual(whole);
    expect(within).not.toEqual(whole);
  });
});
