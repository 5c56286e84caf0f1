import { describe, expect, it } from "vitest";
import { preferenceLosses } from "../../src/losses/preference/index.ts";
import { initialWeights } from "../../src/models/initialise.ts";
import { flatten } from "../../src/models/checkpoint.ts";
import {
  measurePairs,
  preferenceSchema,
  preferenceSteps,
  trainPreference,
  type PreferenceSettings,
  type PreferenceStep,
} from "../../src/algorithms/preference.ts";
import type { PairRows, SideRows } from "../../src/algorithms/preference-rows.ts";
import { gradientEngine, type GradientEngine } from "../helpers/gradient-engine.ts";
import { tinyConfig } from "../helpers/tiny-model.ts";

function weightsOf(seed: number, spread: number): Float32Array {
  const named = initialWeights(tinyConfig, seed);
  const weights = flatten(tinyConfig, new Map(named.map((each) => [each.name, each])), "tiny");
  return weights.map((each) => each * spread);
}

/** A row of ids, of which those from `from` on are compared but for one in the middle. */
function side(from: number, ...rows: number[][]): SideRows {
  const made = rows.map((ids) => {
    const compared = Uint8Array.from(ids, (_, i) => (i < from || i === from + 1 ? 0 : 1));
    return { ids: Int32Array.from(ids), compared };
  });
  const tokens = made.reduce((n, { compared }) => n + compared.reduce((a, b) => a + b, 0), 0);
  return { rows: made, tokens };
}

const pairs: PairRows[] = [
  { chosen: side(2, [5, 9, 17, 40, 41, 8]), rejected: side(2, [5, 9, 60, 12, 13, 14, 90, 7]) },
  // Prompts built anew: two sequences on one side.
  { chosen: side(1, [3, 30, 31, 32], [4, 50, 51, 52]), rejected: side(3, [3, 8, 2, 19, 22, 25]) },
  { chosen: side(1, [7, 70, 71, 72]), rejected: side(1, [7, 80, 81, 82, 83]) },
];

const settingsOf = (given: object): PreferenceSettings => preferenceSchema.parse(given);

async function oneStep(
  { engine }: GradientEngine,
  settings: PreferenceSettings,
): Promise<PreferenceStep> {
  const steps: PreferenceStep[] = [];
  await trainPreference({
    engine,
    settings,
    pairs,
    seed: 1,
    firstStep: 0,
    signal: new AbortController().signal,
    onStep: (step) => Promise.resolve(steps.push(step) < 1),
  });
  return steps[0]!;
}

const reference = weightsOf(8, 3);
const policy = weightsOf(7, 3);

describe("one step of preference training", () => {
  it.each(preferenceLosses.names)(
    "of %s has the gradient of the whole loss, by finite differences over all weights",
    async (name) => {
      const settings = settingsOf({ loss: { name, beta: 0.5 }, sftCoef: 0.3, pairsPerStep: 3 });
      const at = await gradientEngine(tinyConfig, { policy, reference });
      const step = await oneStep(at, settings);
      const gradients = at.gradients();
      const norm = Math.hypot(...gradients);
      const lossAt = async (by: number): Promise<number> => {
        const moved = policy.map((each, i) => each + (by * gradients[i]!) / norm);
        const { engine } = await gradientEngine(tinyConfig, { policy: moved, reference });
        const { signal } = new AbortController();
        return (await measurePairs(engine, settings, pairs, signal))["losses/preference"]!;
      };
      expect(await lossAt(0)).toBeCloseTo(step.metrics["losses/preference"]!, 6);
      const slope = async (h: number): Promise<number> =>
        ((await lossAt(h)) - (await lossAt(-h))) / (2 * h);
      // Richardson's extrapolation of two step sizes, large enough for 32 bits.
      const numeric = (4 * (await slope(0.05 / norm)) - (await slope(0.1 / norm))) / 3;
      // Along the gradient the slope is its norm, which any wrong part of it would lack.
      expect(Math.abs(numeric / norm - 1)).toBeLessThan(0.01);
    },
  );

  it("is the same however pairs are split over micro-batches", async () => {
    const settings = settingsOf({ pairsPerStep: 3 });
    const [whole, split] = [
      await gradientEngine(tinyConfig, { policy, reference }, 512),
      await gradientEngine(tinyConfig, { policy, reference }, 1),
    ];
    const [a, b] = [await oneStep(whole, settings), await oneStep(split, settings)];
    expect(b.metrics["losses/preference"]).toBeCloseTo(a.metrics["losses/preference"]!, 6);
    const [ga, gb] = [whole.gradients(), split.gradients()];
    const gap = Math.hypot(...ga.map((each, i) => each - gb[i]!));
    expect(gap / Math.hypot(...ga)).toBeLessThan(1e-5);
  });

  it("measures log 2 and no margin where the policy is the reference", async () => {
    const at = await gradientEngine(tinyConfig, { policy, reference: policy });
    const { metrics } = await oneStep(at, settingsOf({ pairsPerStep: 3 }));
    expect(metrics["losses/preference"]).toBeCloseTo(Math.log(2), 6);
    expect(metrics).toMatchObject({ "rewards/margin": 0, "rewards/accuracy": 0 });
    expect(metrics["tokens/chosen"]).toBeCloseTo((3 + 4 + 2) / 3, 6);
  });
});

describe("the steps of a run", () => {
  it("go through all pairs once an epoch, in another order each", async () => {
    const settings = settingsOf({ pairsPerStep: 2, epochs: 3, loss: "simpo" });
    expect(preferenceSteps(settings, pairs.length)).toBe(6);
    const { engine } = await gradientEngine(tinyConfig, { policy });
    const seen: number[] = [];
    await trainPreference({
      engine,
      settings,
      pairs,
      seed: 3,
      firstStep: 0,
      signal: new AbortController().signal,
      onStep: ({ tokens }) => Promise.resolve(seen.push(tokens) > 0),
    });
    const total = 5 + 7 + 3 + 3 + 5 + 3 + 4;
    expect(seen).toHaveLength(6);
    expect([0, 2, 4].map((at) => seen[at]! + seen[at + 1]!)).toEqual([total, total, total]);
    expect(new Set([seen[1], seen[3], seen[5]]).size).toBeGreaterThan(1);
  });
});
