import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { anchorState } from "../../src/advantages/anchor-state.ts";
import { rewarded } from "../helpers/rewarded.ts";

const { trajectories, cases } = JSON.parse(
  readFileSync(new URL("./gigpo.json", import.meta.url), "utf8"),
) as {
  trajectories: { groupId: string; states: string[]; paid: number[] }[];
  cases: { scale: string; gamma: number; advantages: number[][] }[];
};

describe("anchor-state against the authors' functions (gigpo.py)", () => {
  it.each(cases)("scale $scale, γ $gamma", ({ scale, gamma, advantages }) => {
    const batch = trajectories.map(({ groupId, states, paid }) =>
      rewarded({ groupId, states, reward: paid.at(-1) ?? null, perCall: states.map(() => 1) }),
    );
    const found = anchorState.estimate(batch, { scale, gamma });
    for (const [i, expected] of advantages.entries()) {
      // Each turn is a prompt token and one that the policy wrote.
      const own = (found[i] as number[]).filter((_, token) => token % 2 === 1);
      expect(own).toHaveLength(expected.length);
      for (const [turn, value] of expected.entries()) expect(own[turn]).toBeCloseTo(value, 4);
    }
  });
});
