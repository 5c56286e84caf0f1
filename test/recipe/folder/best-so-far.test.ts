import { describe, expect, it } from "vitest";
import { openBestSoFar } from "../../../src/recipe/folder/best-so-far.ts";

const REWARD = "rollout/reward_mean";

describe("openBestSoFar", () => {
  it("compares checkpoints by the mean reward of the steps since the one before", () => {
    const so = openBestSoFar({ every: 2, usesEvaluations: false });
    const rewards = [0.2, 0.4, 0.9, 0.1, 0.6, 0.4];
    const best = rewards.map((reward, i) => {
      so.add({ step: i + 1, metrics: { [REWARD]: reward } });
      return so.best?.step ?? null;
    });
    // Means .3, .5, .5: of equal ones the earlier stays.
    expect(best).toEqual([null, 2, 2, 4, 4, 4]);
    expect(so.best?.value).toBeCloseTo(0.5, 12);
  });

  it("compares by held-out EM where the run is evaluated on the way", () => {
    const so = openBestSoFar({ every: 2, usesEvaluations: true });
    so.add({ step: 2, metrics: { [REWARD]: 1, "eval/em": 0.3 } });
    so.add({ step: 3, metrics: { [REWARD]: 1, "eval/em": 0.9 } });
    so.add({ step: 4, metrics: { [REWARD]: 0, "eval/em": 0.4 } });
    so.add({ step: 6, metrics: { [REWARD]: 1 } });
    expect(so.best).toEqual({ step: 4, value: 0.4 });
  });

  it("does not take a number that is none for the best", () => {
    const so = openBestSoFar({ every: 1, usesEvaluations: false });
    so.add({ step: 1, metrics: { [REWARD]: NaN } });
    expect(so.best).toBeNull();
    so.add({ step: 2, metrics: { [REWARD]: 0 } });
    expect(so.best).toEqual({ step: 2, value: 0 });
  });
});
