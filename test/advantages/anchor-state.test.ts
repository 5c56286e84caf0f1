import { describe, expect, it } from "vitest";
import { anchorState } from "../../src/advantages/anchor-state.ts";
import type { Advantage, Rewarded } from "../../src/advantages/estimator.ts";
import { rewarded } from "../helpers/rewarded.ts";

/** Advantages of the first token of each turn. */
const byTurn = (advantages: readonly Advantage[], batch: readonly Rewarded[]): number[][] =>
  advantages.map((each, i) => {
    const { turn } = batch[i]!.tokens;
    const starts = turn.flatMap((at, k) => (turn[k - 1] === at ? [] : [k]));
    return starts.map((k) => (each as number[])[k]!);
  });

const made = (reward: number | null, states: string[], given: Partial<Rewarded> = {}) =>
  rewarded({ reward, states, perCall: states.map(() => 2), ...given });

describe("the estimator anchor-state", () => {
  it("adds each turn's return against turns that began in the same state", () => {
    // Means: episodes .5; first turns return .5 and 0, mean .25; the second turns are seen once.
    const batch = [made(1, ["", "left"]), made(0, ["", "right"])];
    const advantages = anchorState.estimate(batch, { scale: "none", gamma: 0.5 });
    expect(byTurn(advantages, batch)).toEqual([
      [0.5 + 0.25, 0.5],
      [-0.5 - 0.25, -0.5],
    ]);
  });

  it("groups a state wherever in a trajectory it was met, also twice in one", () => {
    // The state "hall" with returns .5, 1 and 0 (γ .5): mean .5.
    const batch = [made(1, ["", "hall", "hall"]), made(0, ["", "hall"])];
    const [first, second] = byTurn(
      anchorState.estimate(batch, { scale: "none", gamma: 0.5, step: 2 }),
      batch,
    );
    expect(first).toEqual([0.5 + 2 * 0.125, 0.5 + 0, 0.5 + 2 * 0.5]);
    expect(second).toEqual([-0.5 - 2 * 0.125, -0.5 - 2 * 0.5]);
  });

  it("divides by the sample deviation of each group", () => {
    const batch = [made(1, [""]), made(0, [""])];
    const [[first] = [], [second] = []] = byTurn(anchorState.estimate(batch, {}), batch);
    // Both advantages are .5 / .7071 = .7071.
    expect(first).toBeCloseTo(2 * Math.SQRT1_2, 5);
    expect(second).toBeCloseTo(-2 * Math.SQRT1_2, 5);
  });

  it("keeps other groups' states, and what cannot be scored, apart", () => {
    const batch = [
      made(1, ["", "hall"]),
      made(0, ["", "hall"], { groupId: "b" }),
      made(null, ["", "hall"]),
    ];
    expect(byTurn(anchorState.estimate(batch, {}), batch)).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  it("counts a reward at the turn of its call", () => {
    const batch = [
      made(1, ["", "a"], {
        rewards: [
          { name: "outcome", value: 0, weight: 1, at: null },
          { name: "step", value: 1, weight: 1, at: { call: 0 } },
        ],
      }),
      made(1, ["", "a"], { rewards: [{ name: "outcome", value: 1, weight: 1, at: null }] }),
    ];
    // Episodes are equal. First turns return 1 and .5, second turns 0 and 1.
    const found = byTurn(anchorState.estimate(batch, { scale: "none", gamma: 0.5 }), batch);
    expect(found).toEqual([
      [0.25, -0.5],
      [-0.25, 0.5],
    ]);
  });
});
