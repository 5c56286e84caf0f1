import { describe, expect, it } from "vitest";
import { openRewardProgress } from "../../../src/run/train/progress.ts";

const REWARD = "rollout/reward_mean";

describe("openRewardProgress", () => {
  it("compares checkpoints by the mean reward of the steps since the one before", () => {
    const so = openRewardProgress({ every: 2, usesEvaluations: false });
    const rewards = [0.2, 0.4, 0.9, 0.1, 0.6, 0.4];
    const best = rewards.map((reward, i) => {
      so.add({ step: i + 1, metrics: { [REWARD]: reward } });
      return so.best;
    });
    // Means .3, .5, .5: of equal ones the earlier stays.
    expect(best).toEqual([null, 2, 2, 4, 4, 4]);
    expect(so.safe).toBe(4);
  });

  it("compares by held-out EM where the run is evaluated on the way", () => {
    const so = openRewardProgress({ every: 2, usesEvaluations: true });
    so.add({ step: 2, metrics: { [REWARD]: 1, "eval/em": 0.3 } });
    so.add({ step: 3, metrics: { [REWARD]: 1, "eval/em": 0.9 } });
    so.add({ step: 4, metrics: { [REWARD]: 0, "eval/em": 0.4 } });
    so.add({ step: 6, metrics: { [REWARD]: 1 } });
    expect(so.best).toBe(4);
  });

  it("does not take a number that is none for the best", () => {
    const so = openRewardProgress({ every: 1, usesEvaluations: false });
    so.add({ step: 1, metrics: { [REWARD]: NaN } });
    expect(so.best).toBeNull();
    so.add({ step: 2, metrics: { [REWARD]: 0 } });
    expect(so.best).toBe(2);
  });
});
