import { describe, expect, it } from "vitest";
import { tokensAt } from "../../src/advantages/credit.ts";
import type { Rewarded } from "../../src/advantages/estimator.ts";
import { groupAdvantage } from "../../src/advantages/group.ts";
import { returnAdvantage } from "../../src/advantages/return.ts";
import { rewarded } from "../helpers/rewarded.ts";

/** Two calls of two written tokens each; the whole trajectory earns `outcome`, its second call `step`. */
function twoTurns(outcome: number, step: number): Rewarded {
  return rewarded({
    reward: outcome + step,
    perCall: [2, 2],
    rewards: [
      { name: "em", value: outcome, weight: 1, at: null },
      { name: "step", value: step, weight: 1, at: { call: 1 } },
    ],
  });
}

describe("credit by address", () => {
  it("gives a call's reward to its own tokens, normalised apart from the outcome", () => {
    const advantages = groupAdvantage.estimate([twoTurns(1, 0.5), twoTurns(0, 0)], {
      scale: "none",
    });
    // Outcomes 1, 0: ±.5. Steps .5, 0: ±.25. Tokens: prompt, two of call 0, reply, two of call 1.
    expect(advantages).toEqual([
      [0.5, 0.5, 0.5, 0.5, 0.75, 0.75],
      [-0.5, -0.5, -0.5, -0.5, -0.75, -0.75],
    ]);
  });

  it("gives it to all tokens before as well with addressed: to-go", () => {
    const [first] = groupAdvantage.estimate([twoTurns(1, 0.5), twoTurns(0, 0)], {
      scale: "none",
      addressed: "to-go",
    });
    expect(first).toEqual([0.75, 0.75, 0.75, 0.75, 0.75, 0.75]);
  });

  it("sums it into the trajectory's with addressed: trajectory", () => {
    const advantages = groupAdvantage.estimate([twoTurns(1, 0.5), twoTurns(0, 0)], {
      scale: "none",
      addressed: "trajectory",
    });
    expect(advantages).toEqual([0.75, -0.75]);
  });

  it("leaves out what is measured only, and what cannot be scored", () => {
    const [measured, other] = [twoTurns(1, 0.5), twoTurns(0, 0)].map((each, i) => ({
      ...each,
      reward: 1 - i,
      rewards: each.rewards.map((reward) => ({ ...reward, weight: reward.at === null ? 1 : 0 })),
    }));
    expect(groupAdvantage.estimate([measured!, other!], { scale: "none" })).toEqual([0.5, -0.5]);
    const unscored = { ...twoTurns(1, 0.5), reward: null };
    expect(groupAdvantage.estimate([unscored, twoTurns(0, 0.5)], {})[0]).toBe(0);
  });

  it("takes a moment where every token has a reward", { timeout: 5000 }, () => {
    const rewards = Array.from({ length: 3000 }, (_, token) => {
      return { name: "each", value: token, weight: 1, at: { call: 0, token } };
    });
    const batch = Array.from({ length: 8 }, () => rewarded({ perCall: [3000], rewards }));
    const values = [0, ...rewards.map(({ value }) => value)];
    for (const advantages of returnAdvantage.estimate(batch, {}))
      expect(advantages).toEqual(values);
  });

  it("gives each token its reward-to-go without a baseline", () => {
    const steps = rewarded({
      reward: 3,
      perCall: [1, 1],
      rewards: [
        { name: "environment", value: 1, weight: 1, at: { call: 0 } },
        { name: "environment", value: 2, weight: 1, at: { call: 1 } },
      ],
    });
    expect(returnAdvantage.estimate([steps], { addressed: "to-go" })).toEqual([[3, 3, 2, 2]]);
  });
});

describe("tokensAt", () => {
  const { tokens } = rewarded({ perCall: [2, 3] });

  it("names a call's completion, one token of it, or a run of tokens", () => {
    expect(tokensAt(tokens, { call: 1 })).toEqual([4, 5, 6]);
    expect(tokensAt(tokens, { call: 1, token: 1 })).toEqual([5]);
    expect(tokensAt(tokens, { call: 1, token: 1, endToken: 3 })).toEqual([5, 6]);
  });

  it("names none where the address lies outside", () => {
    expect(tokensAt(tokens, { call: 7 })).toEqual([]);
    expect(tokensAt(tokens, { call: 0, token: 9 }, "to-go")).toEqual([]);
  });
});
