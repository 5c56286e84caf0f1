import { describe, expect, it } from "vitest";
import type { Rewarded } from "../../src/advantages/estimator.ts";
import { groupAdvantage } from "../../src/advantages/group.ts";
import { rewarded } from "../helpers/rewarded.ts";

const of = (groupId: string, ...rewards: (number | null)[]): Rewarded[] =>
  rewards.map((reward) => rewarded({ groupId, reward }));

describe("group advantage", () => {
  it("divides by the sample deviation: √(1/3) for 1, 0, 0, 1", () => {
    const advantages = groupAdvantage.estimate(of("a", 1, 0, 0, 1), {}) as number[];
    const expected = 0.5 / (Math.sqrt(1 / 3) + 1e-6);
    expect(advantages).toEqual([expected, -expected, -expected, expected]);
    expect(expected).toBeCloseTo(0.866, 3);
  });

  it("only subtracts the mean with scale none", () => {
    expect(groupAdvantage.estimate(of("a", 1, 0, 0, 1), { scale: "none" })).toEqual([
      ...[0.5, -0.5, -0.5, 0.5],
    ]);
  });

  it("adds epsilon to the deviation", () => {
    // Deviation of 1, 0: √½.
    const [first] = groupAdvantage.estimate(of("a", 1, 0), { epsilon: 1 }) as number[];
    expect(first).toBeCloseTo(0.5 / (Math.SQRT1_2 + 1), 12);
  });

  it("compares within groups of any size, which need not be adjacent", () => {
    const [a1, a2] = of("a", 1, 0);
    const [b1, b2, b3] = of("b", 4, 1, 1);
    expect(groupAdvantage.estimate([a1!, b1!, b2!, a2!, b3!], { scale: "none" })).toEqual([
      ...[0.5, 2, -1, -0.5, -1],
    ]);
  });

  it("leaves what cannot be scored out of mean and deviation", () => {
    expect(groupAdvantage.estimate(of("a", 1, null, 0), { scale: "none" })).toEqual([0.5, 0, -0.5]);
    expect(groupAdvantage.estimate(of("a", 1, null), {})).toEqual([0, 0]);
  });

  it("compares addressed rewards turn by turn where it is asked to", () => {
    // First turn 1 and 0, second 10 and 30: apart they are ±.5 and ∓10, together less a mean of 10.25.
    const step = (value: number, call: number) => ({
      name: "step",
      value,
      weight: 1,
      at: { call },
    });
    const batch = [
      rewarded({ rewards: [step(1, 0), step(10, 1)], perCall: [1, 1] }),
      rewarded({ rewards: [step(0, 0), step(30, 1)], perCall: [1, 1] }),
    ];
    const estimate = (among?: "turn" | "none") =>
      groupAdvantage.estimate(batch, { scale: "none", addressed: "place", among });
    expect(estimate("turn")).toEqual([
      [0, 0.5, 0, -10],
      [0, -0.5, 0, 10],
    ]);
    expect(estimate()).toEqual([
      [0, -9.25, 0, -0.25],
      [0, -10.25, 0, 19.75],
    ]);
    // They are advantages already.
    expect(estimate("none")).toEqual([
      [0, 1, 0, 10],
      [0, 0, 0, 30],
    ]);
  });
});
