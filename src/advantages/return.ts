import { z } from "../base/schema.ts";
import { mean } from "../base/statistics.ts";
import { addressedCredit, creditByAddress } from "./credit.ts";
import { defineEstimator } from "./estimator.ts";

const options = z.strictObject({
  /** Subtracted from every reward: nothing, or the mean of the batch. */
  baseline: z.enum(["none", "batch-mean"]).default("none"),
  /** What rewards of a call, turn or span move: their own tokens, these and all before, or the whole trajectory. */
  addressed: addressedCredit,
});

/**
 * A = r − b: the return itself, undiscounted (γ = 1). With `addressed: to-go` a token gets the rewards that come at it or later: its
 * reward-to-go.
 *
 * Source: REINFORCE, Williams 1992.
 */
export const returnAdvantage = defineEstimator({
  name: "return",
  summary: "The reward itself, less the batch's mean or not (REINFORCE).",
  source: "Williams, Machine Learning 8, 1992",
  needsGroups: false,
  options,
  estimate(trajectories, { baseline, addressed }) {
    // One baseline for the batch: all trajectories are one group here.
    const batch = trajectories.map((each) => ({ ...each, groupId: "" }));
    return creditByAddress(batch, addressed, (reward, all) =>
      baseline === "none" ? reward : reward - mean(all),
    );
  },
});
