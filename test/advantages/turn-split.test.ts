import { describe, expect, it } from "vitest";
import type { Rewarded } from "../../src/advantages/estimator.ts";
import { groupAdvantage } from "../../src/advantages/group.ts";
import { turnSplit } from "../../src/advantages/turn-split.ts";
import { rewarded } from "../helpers/rewarded.ts";

/** A message of one token, a result, and a message of one token. */
function called(turn: number, outcome: number, firstResult: number | null = 0): Rewarded {
  const plain = rewarded({ perCall: [1, 1] });
  return {
    ...plain,
    reward: turn + outcome,
    rewards: [
      { name: "tools", value: turn / 0.2, weight: 0.2, at: null },
      { name: "em", value: outcome, weight: 1, at: null },
    ],
    tokens: { ...plain.tokens, firstResult },
  };
}

const named = { turn: ["tools"] };

describe("turn-split advantage", () => {
  // Turn rewards .7, .2, .2, 0: mean .275, deviation .2986. Outcomes 1.9, .4, .4, .3: mean .75, deviation .7681.
  // Sums 2.6, .6, .6, .3: mean 1.025, deviation 1.0595. Each over its deviation + 1e-4, by hand.
  const group = [called(0.7, 1.9), called(0.2, 0.4), called(0.2, 0.4), called(0, 0.3, null)];

  it("adds the turn's advantage up to the first result, and leaves the outcome's after it", () => {
    const [first = [], second = []] = turnSplit.estimate(group, named) as number[][];
    const [before = 0, , , after = 0] = first;
    expect(after).toBeCloseTo(1.4969776, 6);
    expect(before).toBeCloseTo(1.4969776 + 1.4227947, 6);
    // Tokens: prompt and message of the first call, reply and message of the second.
    expect(first).toEqual([before, before, after, after]);
    expect(second[1]).toBeCloseTo(-0.4556019 - 0.2510814, 6);
  });

  it("gives a trajectory without a result the advantage of the sum", () => {
    expect(turnSplit.estimate(group, named)[3]).toBeCloseTo(-0.6842327, 6);
    const merged = groupAdvantage.estimate(group, { epsilon: 1e-4 });
    expect(turnSplit.estimate(group, named)[3]).toBeCloseTo(merged[3] as number, 12);
  });

  it("weighs the turn's advantage by lambda", () => {
    const [first = []] = turnSplit.estimate(group, { ...named, lambda: 0.5 }) as number[][];
    expect(first[1]).toBeCloseTo(1.4969776 + 0.5 * 1.4227947, 6);
    expect(first[3]).toBeCloseTo(1.4969776, 6);
  });

  it("takes rewards with an address where none is named", () => {
    const addressed = group.map((each) => ({
      ...each,
      rewards: each.rewards.map((reward) =>
        reward.name === "tools" ? { ...reward, at: { call: 0 } } : reward,
      ),
    }));
    expect(turnSplit.estimate(addressed, {})).toEqual(turnSplit.estimate(group, named));
  });

  it("leaves what cannot be scored out of all three", () => {
    const unscored = { ...called(9, 9), reward: null };
    expect(turnSplit.estimate([unscored, ...group], named)).toEqual([
      0,
      ...turnSplit.estimate(group, named),
    ]);
  });
});
