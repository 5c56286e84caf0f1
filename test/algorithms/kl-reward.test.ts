import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { adaptedCoef, batchKl } from "../../src/algorithms/kl-reward.ts";

const { klController: known } = JSON.parse(
  readFileSync(new URL("../golden/ppo.json", import.meta.url), "utf8"),
) as {
  klController: {
    coef: number;
    target: number;
    horizon: number;
    steps: { kl: number; trajectories: number; coef: number }[];
  };
};

describe("KL in the reward", () => {
  it("adapts its coefficient as verl's controller does", () => {
    let coef = known.coef;
    for (const { coef: expected, ...step } of known.steps) {
      coef = adaptedCoef(coef, known, step);
      expect(coef).toBeCloseTo(expected, 12);
    }
  });

  it("keeps its coefficient without a target", () => {
    const settings = { coef: 0.1, horizon: 10 };
    expect(adaptedCoef(0.1, settings, { kl: 9, trajectories: 10 })).toBe(0.1);
  });

  it("is a mean within trajectories, then over them", () => {
    // (.2 + .4) / 2 and .1, the token without a number left out: .2.
    const batch = [
      { old: [-1, -1, NaN], reference: [-1.2, -1.4, -5] },
      { old: [-1], reference: [-1.1] },
      { old: [], reference: [] },
    ];
    expect(batchKl(batch)).toBeCloseTo(0.2, 12);
  });
});
