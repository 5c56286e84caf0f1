import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { reinforcePp } from "../../src/advantages/reinforce-pp.ts";
import { rewarded } from "../helpers/rewarded.ts";

interface Case {
  baseline: "none" | "group-mean";
  trajectories: { group: string; reward: number; tokens: number }[];
  advantages: number[];
}

const golden = JSON.parse(
  readFileSync(new URL("../golden/reinforce-pp.json", import.meta.url), "utf8"),
) as { cases: Case[] };

describe("REINFORCE++ advantage", () => {
  it("whitens over tokens, so that a long trajectory counts more", () => {
    const batch = [
      rewarded({ reward: 1, perCall: [1] }),
      rewarded({ reward: 0, perCall: [3], groupId: "b" }),
    ];
    // Tokens 1, 0, 0, 0: mean .25, variance (.75² + 3 · .25²) / 3 = .25.
    const [long, short] = reinforcePp.estimate(batch, {});
    expect(long).toBeCloseTo(1.5, 6);
    expect(short).toBeCloseTo(-0.5, 6);
  });

  it("subtracts the group's mean first in its baseline form", () => {
    const batch = [
      rewarded({ reward: 3, perCall: [2], groupId: "a" }),
      rewarded({ reward: 1, perCall: [2], groupId: "a" }),
      rewarded({ reward: 9, perCall: [2], groupId: "b" }),
      rewarded({ reward: 9, perCall: [2], groupId: "b" }),
    ];
    // Tokens 1, 1, −1, −1, 0, 0, 0, 0: mean 0, variance 4 / 7.
    const advantages = reinforcePp.estimate(batch, { baseline: "group-mean" });
    [Math.sqrt(7) / 2, -Math.sqrt(7) / 2, 0, 0].forEach((expected, i) => {
      expect(advantages[i]).toBeCloseTo(expected, 6);
    });
  });

  it("leaves what cannot be scored out of mean and variance", () => {
    const batch = [1, 0, null].map((reward) => rewarded({ reward, perCall: [1] }));
    const [right, wrong, unknown] = reinforcePp.estimate(batch, {});
    expect(right).toBeCloseTo(Math.SQRT1_2, 6);
    expect(wrong).toBeCloseTo(-Math.SQRT1_2, 6);
    expect(unknown).toBe(0);
  });

  it("gives exactly 0 to a batch of equal returns, and to equal groups in the baseline form", () => {
    const equal = [0.1, 0.1, 0.1].map((reward) => rewarded({ reward }));
    expect(reinforcePp.estimate(equal, {})).toEqual([0, 0, 0]);
    const groups = [0.1, 0.1, 0.7, 0.7].map((reward, i) =>
      rewarded({ reward, groupId: `${i >> 1}` }),
    );
    const advantages = reinforcePp.estimate(groups, { baseline: "group-mean" });
    for (const advantage of advantages) expect(advantage).toBe(0);
  });

  it.each(golden.cases)("equals verl's numbers, baseline $baseline", (known) => {
    const batch = known.trajectories.map(({ group, reward, tokens }) =>
      rewarded({ groupId: group, reward, perCall: [tokens] }),
    );
    const advantages = reinforcePp.estimate(batch, { baseline: known.baseline });
    known.advantages.forEach((expected, i) => {
      expect(advantages[i]).toBeCloseTo(expected, 6);
    });
  });
});
