import { describe, expect, it } from "vitest";
import type { EstimatedReward } from "../../src/advantages/estimator.ts";
import { pooledTurns } from "../../src/advantages/pooled-turns.ts";
import { rewarded } from "../helpers/rewarded.ts";

/** A trajectory of two turns: a gain at the first, the outcome at the end. */
const paid = (gain: number, outcome: number) => {
  const rewards: EstimatedReward[] = [
    { name: "gain", value: gain, weight: 1, at: { call: 0 } },
    { name: "f1", value: outcome, weight: 1, at: null },
  ];
  return rewarded({ reward: gain + outcome, rewards, perCall: [1, 1] });
};

const firstOfTurns = (advantage: unknown): number[] => {
  const [first = NaN, , second = NaN] = advantage as number[];
  return [first, second];
};

describe("the estimator pooled-turns", () => {
  it("compares all turns of the group, and sums over later turns", () => {
    // 1, 0, 2, 1: mean 1, sample deviation √(2/3).
    const unit = 1 / Math.sqrt(2 / 3);
    const [first, second] = pooledTurns.estimate([paid(1, 0), paid(2, 1)], { epsilon: 1e-12 });
    expect(firstOfTurns(first)[0]).toBeCloseTo(-unit, 9);
    expect(firstOfTurns(first)[1]).toBeCloseTo(-unit, 9);
    expect(firstOfTurns(second)[0]).toBeCloseTo(unit, 9);
    expect(firstOfTurns(second)[1]).toBeCloseTo(0, 9);
  });

  it("discounts later turns", () => {
    const unit = 1 / Math.sqrt(2 / 3);
    const [first] = pooledTurns.estimate([paid(1, 0), paid(2, 1)], { gamma: 0.5, epsilon: 1e-12 });
    expect(firstOfTurns(first)[0]).toBeCloseTo(-unit / 2, 9);
  });

  it("gives nothing where all turns were paid alike, and leaves out what cannot be scored", () => {
    expect(pooledTurns.estimate([paid(1, 1), paid(1, 1)], {})).toEqual([0, 0]);
    const unscored = { ...paid(1, 1), reward: null };
    const [, , none] = pooledTurns.estimate([paid(1, 0), paid(2, 1), unscored], {});
    expect(firstOfTurns(none)).toEqual([0, 0]);
  });
});
