import { describe, expect, it } from "vitest";
import type { EstimatedReward, Rewarded } from "../../src/advantages/estimator.ts";
import { groupAdvantage } from "../../src/advantages/group.ts";
import { signFlip } from "../../src/advantages/sign-flip.ts";
import { rewarded } from "../helpers/rewarded.ts";

const at = (value: number | null, token: number, endToken = token + 1): EstimatedReward => ({
  name: "factual",
  value,
  weight: 0,
  at: { call: 0, token, endToken },
});

/** A prompt of one token and a message of five: two sentences of two tokens, and an answer. */
const written = (reward: number | null, ...values: EstimatedReward[]): Rewarded =>
  rewarded({ perCall: [5], reward, rewards: values });

const options = { by: "factual", scale: "none" };

describe("sign-flip advantage", () => {
  // Rewards 1 and 0: A = .5 and -.5.
  it("turns the sign where the reward's value at a token does not fit it, and gives the answer |A|", () => {
    const right = written(1, at(1, 0, 2), at(-1, 2, 4));
    const wrong = written(0, at(1, 0, 2), at(-1, 2, 4));
    const [a, b] = signFlip.estimate([right, wrong], options) as number[][];
    const expected = [0.5, 0.5, -0.5, -0.5, 0.5];
    expect(a?.slice(1)).toEqual(expected);
    expect(b?.slice(1)).toEqual(expected);
  });

  it("leaves A at sentences of value 0 and where the reward gave no value", () => {
    const neutral = written(0, at(0, 0, 2), at(null, 2, 4));
    const mathematics = written(1);
    const [a, b] = signFlip.estimate([neutral, mathematics], options) as number[][];
    // Sentence of value 0: A; without a value and the answer: |A|.
    expect(a?.slice(1)).toEqual([-0.5, -0.5, 0.5, 0.5, 0.5]);
    expect(b).toBe(0.5);
  });

  it("scales as GRPO does, and takes no value of the reward into it", () => {
    const values = [1, 0, 0, 1].map((reward) => written(reward, { ...at(1, 0), weight: 0 }));
    const [first] = signFlip.estimate(values, { by: "factual" }) as number[][];
    expect(first?.[1]).toBeCloseTo(0.8660239, 6);
    const bare = values.map((each) => ({ ...each, rewards: [] }));
    expect(first?.[1]).toBe(groupAdvantage.estimate(bare, {})[0]);
  });
});
