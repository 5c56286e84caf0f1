import { describe, expect, it } from "vitest";
import { openDevice } from "../../src/onnx/device.ts";
import { random } from "../../src/base/random.ts";
import type { TrainingRow } from "../../src/engine/engine.ts";
import { microBatches } from "../../src/engine/local/batching.ts";
import { modelWeights } from "../../src/engine/local/model-weights.ts";
import { makeTrainer } from "../../src/engine/local/trainer.ts";
import type { LossSpec } from "../../src/losses/loss.ts";
import { flatten, unflatten } from "../../src/models/checkpoint.ts";
import { plainFeatures, type DecoderConfig } from "../../src/models/config.ts";
import { initialWeights } from "../../src/models/initialise.ts";

const base: DecoderConfig = {
  ...plainFeatures,
  architecture: "llama",
  vocabSize: 23,
  hiddenSize: 12,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  intermediateSize: 16,
  normEpsilon: 1e-5,
  ropeTheta: 100,
  tiedEmbeddings: true,
  maxPositions: 64,
};
const crossEntropy: LossSpec = { name: "cross-entropy", options: {} };

/** Two rows of different length, one token of weight 0. */
function rows(): TrainingRow[] {
  const draw = random("rows");
  return [11, 6].map((length) => {
    const ids = Array.from({ length: length + 1 }, () => draw.int(base.vocabSize));
    const weights = Array.from({ length }, (_, i) => (i === 2 ? 0 : 0.05 + 0.1 * draw.next()));
    return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
  });
}

/**
 * Compares the gradient of every parameter tensor with central differences of fourth order. Each direction follows the
 * gradient in a random half of the tensor's elements, where float32 shows the difference best, and leads astray at random.
 *
 * @returns the largest |numeric − ours| of a unit step over the norm of the tensor's gradient (at least a hundredth of the whole
 *   gradient's: a bias on keys shifts all scores of a query alike and hardly matters).
 */
async function worstError(
  config: DecoderConfig,
  loss: LossSpec,
  {
    addFields = () => rows(),
    directions = 4,
  }: { addFields?: (logprobs: Float32Array[]) => TrainingRow[]; directions?: number } = {},
): Promise<{ error: number; tensors: number }> {
  const device = openDevice("cpu", 1);
  const draw = random("directions");
  const named = new Map(initialWeights(config, 5).map((each) => [each.name, each]));
  const flat = flatten(config, named, "test");
  // Biases and norms away from where they start, so that a mistake in them would show.
  for (const { data, shape } of unflatten(config, flat)) {
    if (shape.length === 1) data.forEach((each, i) => (data[i] = each + 0.3 * draw.normal()));
  }
  const weights = await modelWeights(config, flat, device);
  const trainer = await makeTrainer(config, device, { lora: null });
  const batches = microBatches(rows(), { maxTokens: 64 })[0]!;
  const batch = addFields(await trainer.score(weights, rows(), batches, "logprobs"));
  const value = async (): Promise<number> => {
    await weights.refresh();
    return (await trainer.forwardBackward(weights, batch, batches, loss)).loss;
  };
  await value();
  const found = (await trainer.gradients.read()).slice();
  const gradients = unflatten(config, found);
  const floor = Math.hypot(...found) / 100;
  let error = 0;
  for (const [k, { data }] of unflatten(config, weights.trained.flat!).entries()) {
    const gradient = gradients[k]!.data;
    const norm = Math.max(floor, Math.hypot(...gradient));
    for (let repeat = 0; repeat < directions; repeat++) {
      const kept = data.slice();
      const half = unit(Float64Array.from(gradient, (each) => (draw.next() < 0.5 ? each : 0)));
      const astray = unit(Float64Array.from(data, () => draw.normal()));
      const direction = half.map((each, i) => each + 0.5 * astray[i]!);
      const along = async (distance: number): Promise<number> => {
        data.forEach((_, i) => (data[i] = kept[i]! + distance * direction[i]!));
        return value();
      };
      // The loss changes by less than a hundredth: far above float32's dust, far below where it bends.
      const h = Math.min(0.04, 0.0025 / norm);
      const near = (await along(h)) - (await along(-h));
      const far = (await along(2 * h)) - (await along(-2 * h));
      const numeric = (8 * near - far) / (12 * h);
      data.set(kept);
      const ours = gradient.reduce((sum, each, i) => sum + each * direction[i]!, 0);
      error = Math.max(error, Math.abs(numeric - ours) / norm);
    }
  }
  return { error, tensors: gradients.length };
}

function unit(vector: Float64Array): Float64Array {
  const norm = Math.hypot(...vector);
  return norm === 0 ? vector : vector.map((each) => each / norm);
}

describe("the gradient of the whole model", () => {
  const scaling = { type: "linear", factor: 3 } as const;
  const window = { slidingWindow: { size: 3, fromLayer: 1 }, ropeScaling: scaling };
  it.each<[string, number, Partial<DecoderConfig>]>([
    ["plain layers", 2 + 2 * 9, {}],
    ["an output matrix of its own", 3 + 2 * 9, { tiedEmbeddings: false }],
    ["biases on queries, keys and values", 2 + 2 * 12, { qkvBias: true }],
    ["a norm over each head of queries and keys", 2 + 2 * 11, { qkNorm: true }],
    ["a sliding window in its second layer", 2 + 2 * 9, window],
  ])("with %s agrees with central differences", async (_, count, features) => {
    const { error, tensors } = await worstError({ ...base, ...features }, crossEntropy);
    expect(tensors).toBe(count);
    expect(error).toBeLessThan(1e-3);
  });

  it.each([
    ["a clipped ratio", {}],
    ["asymmetric clipping", { clipLow: 0.1, clipHigh: 0.4 }],
    ["dual clipping", { dualClip: 1.15 }],
    ["REINFORCE", { ratio: "none" }],
    ["the penalty k1", { klCoef: 0.5, klEstimator: "k1" }],
    ["the penalty k2", { klCoef: 0.5, klEstimator: "k2" }],
    ["the penalty k3", { klCoef: 0.5, klEstimator: "k3" }],
    ["an entropy bonus", { entropyCoef: 0.5 }],
  ])("under %s agrees with central differences", async (_, options) => {
    const draw = random("fields");
    // Log-ratios stand clear of every border, so that no step of the differences crosses one.
    const gaps = [0.02, -0.6, -0.02, 0.7, 0, 0.6];
    const addFields = (logprobs: Float32Array[]): TrainingRow[] =>
      rows().map((row, r) => {
        const known = [...logprobs[r]!].map((each) => (Number.isNaN(each) ? 0 : each));
        const fields = {
          ...row.fields,
          advantages: known.map((_, t) => (t % 2 === 0 ? 1 : -1) * (0.5 + draw.next())),
          oldLogprobs: known.map((each, t) => each - gaps[(t + 3 * r) % gaps.length]!),
          refLogprobs: known.map((each) => each + 0.5 * draw.normal()),
        };
        return { ...row, fields };
      });
    const loss = { name: "policy-gradient", options };
    // The graph below the loss is that of the tests above: one direction shows the loss.
    const checked = { addFields, directions: 1 };
    const { error } = await worstError({ ...base, qkvBias: true }, loss, checked);
    expect(error).toBeLessThan(1e-3);
  });
});
