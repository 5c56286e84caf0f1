import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { TrainingRow } from "../../../src/engine/engine.ts";
import { type MicroBatch, microBatch, microBatches } from "../../../src/engine/local/batching.ts";
import { adaptedWeights, modelWeights } from "../../../src/engine/local/model-weights.ts";
import { makeTrainer } from "../../../src/engine/local/trainer.ts";
import { flatten } from "../../../src/models/checkpoint.ts";
import type { DecoderConfig } from "../../../src/models/config.ts";
import type { Recompute } from "../../../src/models/decoder.ts";
import { initialWeights } from "../../../src/models/initialise.ts";
import { type LoraConfig, initialAdapter } from "../../../src/models/lora/lora.ts";
import { targetModules } from "../../../src/models/lora/target-modules.ts";
import { openDevice } from "../../../src/onnx/device.ts";
import { expectClose } from "../../helpers/expect-close.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

/** So many tokens, the same for the same name. */
function tokens(name: string, count: number): number[] {
  const draw = random(name);
  return Array.from({ length: count }, () => draw.int(300));
}

/** A row of which the last `scored` targets count. */
function rowOf(ids: readonly number[], scored: number): TrainingRow {
  const draw = random(ids.length);
  const targets = ids.slice(1);
  const weights = targets.map((_, i) => (i < targets.length - scored ? 0 : 0.5 + draw.next()));
  return { inputs: ids.slice(0, -1), targets, fields: { weights } };
}

const [first, second] = [tokens("first", 140), tokens("second", 200)];
/** Four rollouts of one prompt, two of another, a row alone. One target of the first prompt counts in one row. */
const rows = [
  rowOf([...first, ...tokens("a", 30)], 29),
  rowOf([...second, ...tokens("b", 11)], 10),
  rowOf([...first, ...tokens("c", 7)], 40),
  rowOf(tokens("alone", 180), 20),
  rowOf([...first, ...tokens("d", 22)], 5),
  rowOf([...second, ...tokens("e", 45)], 45),
  rowOf([...first, ...tokens("f", 30)], 1),
];

/** The log-probabilities of scored targets. */
function known(logprobs: Float32Array): Float32Array {
  const found = logprobs.filter((each) => !Number.isNaN(each));
  expect(found.length).toBeGreaterThan(0);
  return found;
}

/** Every row in a run of its own, so that nothing is shared. */
const alone = rows.map((_, i) => microBatch(rows, [i]));
const together = microBatches(rows, { maxTokens: 1024 }).flat();

describe("runs of rows that begin alike", () => {
  it("compute fewer tokens than rows alone", () => {
    const tokens = (runs: readonly MicroBatch[]): number =>
      runs.reduce((sum, run) => sum + run.tokens, 0);
    expect(tokens(together)).toBeLessThan(0.6 * tokens(alone));
  });

  const lora: LoraConfig = { rank: 3, alpha: 6, rslora: false, targets: targetModules };
  const window = { slidingWindow: { size: 50, fromLayer: 1 }, qkNorm: true };
  it.each<[string, Partial<DecoderConfig>, LoraConfig | null, Recompute]>([
    ["all parameters", {}, null, false],
    ["adapters", {}, lora, false],
    ["a window, layers computed again", window, lora, true],
    ["a window, attention computed again", window, lora, "selective"],
  ])("give the log-probabilities and gradients of rows alone: %s", async (...given) => {
    const [, features, adapters, recompute] = given;
    const config = { ...tinyConfig, ...features };
    const device = openDevice("cpu", 1);
    const named = new Map(initialWeights(config, 3).map((each) => [each.name, each]));
    const whole = await modelWeights(config, flatten(config, named, "test"), device);
    const adapter = adapters && initialAdapter(config, adapters, 1);
    adapter?.weights.forEach((each, i) => (adapter.weights[i] = each + 0.05 * Math.sin(i)));
    const weights = adapter === null ? whole : await adaptedWeights(config, whole, adapter, device);
    const loss = { name: "cross-entropy", options: {} };
    const results = [];
    for (const batches of [together, alone]) {
      const trainer = await makeTrainer(config, device, { lora: adapters, memory: { recompute } });
      const { logprobs, loss: total } = await trainer.forwardBackward(weights, rows, batches, loss);
      const scores = await trainer.score(weights, rows, batches, "logprobs");
      scores.forEach((each, i) => {
        expectClose(known(each), known(logprobs[i]!));
      });
      results.push({ logprobs, total, gradient: (await trainer.gradients.read()).slice() });
    }
    const [shared, apart] = results as [(typeof results)[0], (typeof results)[0]];
    expect(shared.total).toBeCloseTo(apart.total, 3);
    shared.logprobs.forEach((each, i) => {
      expectClose(known(each), known(apart.logprobs[i]!), { atol: 2e-5 });
    });
    const norm = Math.hypot(...apart.gradient);
    const gap = Math.hypot(...shared.gradient.map((each, i) => each - apart.gradient[i]!));
    expect(norm).toBeGreaterThan(0.1);
    expect(gap / norm).toBeLessThan(1e-5);
  });
});
