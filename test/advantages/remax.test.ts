import { readFileSync } from "node:fs";
import { join } from "node:path";
import { advantageAt } from "../../src/advantages/estimator.ts";
import { describe, expect, it } from "vitest";
import { remax } from "../../src/advantages/remax.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { rewarded } from "../helpers/rewarded.ts";

interface Golden {
  baselines: number[];
  trajectories: {
    group: number;
    tokens: number;
    outcome: number;
    step: { token: number; value: number } | null;
  }[];
  advantages: number[][];
}

const file = join(import.meta.dirname, "../golden/remax.json");
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Golden[] };

describe("ReMax", () => {
  it("subtracts the greedy rollout's reward", () => {
    const group = [1, 0, 0.25].map((reward, i) => rewarded({ reward, isBaseline: i === 2 }));
    expect(remax.estimate(group, {})).toEqual([0.75, -0.25, 0]);
  });

  it("gives 0 where the greedy rollout cannot be scored", () => {
    const baseline = rewarded({ groupId: "b", reward: null, isBaseline: true });
    const other = rewarded({ groupId: "a", reward: 1, isBaseline: true });
    expect(remax.estimate([rewarded({ groupId: "b", reward: 1 }), baseline, other], {})).toEqual([
      0, 0, 0,
    ]);
  });

  it.each(cases)("equals verl's, token by token", ({ baselines, trajectories, advantages }) => {
    const given = trajectories.map(({ group, tokens, outcome, step }) =>
      rewarded({
        groupId: `g${group}`,
        perCall: [tokens],
        reward: outcome + (step?.value ?? 0),
        rewards: [
          { name: "outcome", value: outcome, weight: 1, at: null },
          ...(step === null
            ? []
            : [{ name: "step", value: step.value, weight: 1, at: { call: 0, token: step.token } }]),
        ],
      }),
    );
    const greedy = baselines.map((reward, g) =>
      rewarded({ groupId: `g${g}`, reward, isBaseline: true }),
    );
    const found = remax.estimate([...given, ...greedy], {});
    trajectories.forEach(({ tokens }, i) => {
      const own = found[i] ?? NaN;
      const perToken = Array.from({ length: tokens }, (_, at) => advantageAt(own, at + 1));
      expectClose(perToken, advantages[i] ?? [], { atol: 1e-9 });
    });
  });
});
