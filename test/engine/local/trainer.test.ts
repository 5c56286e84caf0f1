import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { TrainingRow } from "../../../src/engine/engine.ts";
import { microBatches } from "../../../src/engine/local/batching.ts";
import { modelWeights } from "../../../src/engine/local/model-weights.ts";
import { makeTrainer } from "../../../src/engine/local/trainer.ts";
import type { LossSpec } from "../../../src/losses/loss.ts";
import { flatten } from "../../../src/models/checkpoint.ts";
import type { DecoderConfig } from "../../../src/models/config.ts";
import { initialWeights } from "../../../src/models/initialise.ts";
import { openDevice } from "../../../src/onnx/device.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";
import { naming } from "../../helpers/naming.ts";

const config: DecoderConfig = { ...tinyConfig, vocabSize: 50 };
const named = new Map(initialWeights(config, 3).map((each) => [each.name, each]));
const device = openDevice("cpu", 1);
const weights = await modelWeights(config, flatten(config, named, "test"), device);
const crossEntropy = { name: "cross-entropy", options: {} };

function row(seed: number, length: number): TrainingRow {
  const draw = random(seed);
  const ids = Array.from({ length: length + 1 }, () => draw.int(config.vocabSize));
  const weights = Array.from({ length }, () => draw.next());
  return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
}

async function gradients(
  rows: TrainingRow[],
  maxTokens: number,
  loss: LossSpec = crossEntropy,
): Promise<Float32Array> {
  const trainer = await makeTrainer(config, device, { lora: null });
  const batches = microBatches(rows, { maxTokens })[0]!;
  await trainer.forwardBackward(weights, rows, batches, loss);
  return trainer.gradients.read();
}

/** ‖a − b‖ / ‖b‖ */
function relativeGap(a: Float32Array, b: Float32Array): number {
  const norm = (x: Float32Array): number => Math.hypot(...x);
  return norm(a.map((each, i) => each - b[i]!)) / norm(b);
}

describe("gradients", () => {
  it("do not depend on how rows are split into micro-batches", async () => {
    const rows = [5, 60, 33, 9, 12, 40, 31].map((length, i) => row(i, length));
    const together = await gradients(rows, 4096);
    for (const maxTokens of [1, 64, 130]) {
      expect(relativeGap(await gradients(rows, maxTokens), together)).toBeLessThan(1e-5);
    }
  });

  it("do not depend on it either where a row's tokens have one ratio", async () => {
    const gspo = { name: "gspo", options: { clipLow: 0.9, clipHigh: 9 } };
    const rows = [5, 60, 33, 9, 12].map((length, seed) => {
      const { fields, ...ids } = row(seed, length);
      const perToken = fields.weights.map((_, i) => i);
      const advantages = perToken.map(() => seed - 2);
      // Near the log-probability of a token under random weights.
      const oldLogprobs = perToken.map((i) => -4 + 0.1 * ((i + seed) % 3));
      return { ...ids, fields: { ...fields, advantages, oldLogprobs, rowOffsets: perToken } };
    });
    const together = await gradients(rows, 4096, gspo);
    expect(Math.hypot(...together)).toBeGreaterThan(0.1);
    for (const maxTokens of [1, 64]) {
      expect(relativeGap(await gradients(rows, maxTokens, gspo), together)).toBeLessThan(1e-5);
    }
  });

  it("do not depend on padding", async () => {
    const [short, long] = [row(1, 5), row(2, 60)];
    const sum = await gradients([short], 32);
    (await gradients([long], 64)).forEach((each, i) => (sum[i]! += each));
    // Together, the short row is padded to 64 positions.
    expect(relativeGap(await gradients([short, long], 128), sum)).toBeLessThan(1e-5);
  });

  it("do not depend on the order of rows", async () => {
    const rows = [5, 60, 33, 9].map((length, i) => row(i, length));
    const there = await gradients(rows, 64);
    expect(relativeGap(await gradients(rows.toReversed(), 64), there)).toBeLessThan(1e-5);
  });
});

describe("a row that lacks a field of its loss", () => {
  it("is named", async () => {
    const trainer = await makeTrainer(config, device, { lora: null });
    const options = { klCoef: 0.1 };
    const advantages = [1, 1, 1];
    const rows = [{ ...row(1, 3), fields: { ...row(1, 3).fields, advantages, oldLogprobs: [0] } }];
    const run = trainer.forwardBackward(weights, rows, microBatches(rows, { maxTokens: 64 })[0]!, {
      name: "policy-gradient",
      options,
    });
    await expect(run).rejects.toMatchObject({ code: "LOSS_FIELD_MISSING" });
    await expect(run).rejects.toThrow(naming("row", "0", '"oldLogprobs"', "1", "3"));
  });

  it("is fine when the options leave that field out", async () => {
    const trainer = await makeTrainer(config, device, { lora: null });
    const advantages = [1, -1, 1];
    const rows = [{ ...row(1, 3), fields: { ...row(1, 3).fields, advantages } }];
    const { metrics } = await trainer.forwardBackward(
      weights,
      rows,
      microBatches(rows, { maxTokens: 64 })[0]!,
      { name: "policy-gradient", options: { ratio: "none" } },
    );
    expect(metrics).toEqual({});
  });
});
