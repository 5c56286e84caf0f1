import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { TrainingRow } from "../../../src/engine/engine.ts";
import { type MicroBatch, microBatches, prefixGroups } from "../../../src/engine/local/batching.ts";
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

/** Every row in a micro-batch of its own, without a shared prefix. */
const alone: MicroBatch[] = rows.map(({ inputs }, i) => ({
  rows: [i],
  batch: 1,
  length: inputs.length,
  scored: inputs.length,
}));

describe("groups of rows with a common prefix", () => {
  const together = (): number => 4;
  const groups = (...all: number[][]): [number[], number][] =>
    prefixGroups(
      all.map((ids) => rowOf(ids, 1)),
      together,
    ).map(({ rows: members, prefix }) => [members.toSorted((a, b) => a - b), prefix]);

  it("are the rollouts of one prompt, down to a multiple of 16 tokens", () => {
    const found = prefixGroups(rows, together).filter(({ prefix }) => prefix > 0);
    const sorted = found.map(({ rows: members, prefix }) => [
      members.sort((a, b) => a - b),
      prefix,
    ]);
    expect(sorted.sort()).toEqual([
      [[0, 2, 4, 6], 128],
      [[1, 5], 192],
    ]);
  });

  it("are none of short prefixes, and leave every row a token", () => {
    const short = tokens("short", 127);
    expect(groups([...short, 1], [...short, 2]).every(([, prefix]) => prefix === 0)).toBe(true);
    const whole = tokens("whole", 193);
    // Inputs of 192 tokens twice: 176 are shared.
    expect(groups(whole, whole)).toEqual([[[0, 1], 176]]);
  });

  it("are smaller where a part shares so much more that less is computed", () => {
    const deeper = [...first, ...tokens("deeper", 400)];
    const pair = [1, 2].map((end) => [...deeper, end, end]);
    const others = [3, 4].map((end) => [...first, end, end]);
    expect(groups(...pair, ...others)).toEqual(
      expect.arrayContaining([
        [[0, 1], 528],
        [[2, 3], 128],
      ]),
    );
    // Two of four rows share 64 tokens more: one group of four computes fewer.
    const slightly = [...first, ...tokens("slightly", 60)];
    const near = [1, 2].map((end) => [...slightly, end, end]);
    expect(groups(...near, ...others)).toEqual([[[0, 1, 2, 3], 128]]);
  });
});

describe("micro-batches with a shared prefix", () => {
  it("hold every row once, in fewer positions than without", () => {
    const batches = microBatches(rows, 512, 2);
    expect(batches.flatMap((each) => each.rows).toSorted((a, b) => a - b)).toEqual([
      ...rows.keys(),
    ]);
    const positions = (all: readonly MicroBatch[]): number =>
      all.reduce((sum, { batch, length, prefix = 0 }) => sum + prefix + batch * length, 0);
    expect(positions(batches)).toBeLessThan(0.75 * positions(alone));
    for (const each of batches) expect(positions([each])).toBeLessThanOrEqual(512);
  });

  it("share nothing where all tokens are scored, which would need more places than there are", () => {
    const all = rows.map(({ inputs, targets }) => ({
      inputs,
      targets,
      fields: { weights: targets.map(() => 1) },
    }));
    expect(microBatches(all, 512).every(({ prefix }) => prefix === undefined)).toBe(true);
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
    for (const batches of [microBatches(rows, 512, 2), alone]) {
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
