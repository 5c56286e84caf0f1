import { parseOptions, z } from "../base/schema.ts";
import { mean, type AdvantageEstimator } from "./estimator.ts";

const options = z.strictObject({
  /** Subtracted from every reward: nothing, or the mean of the batch. */
  baseline: z.enum(["none", "batch-mean"]).default("none"),
});

/**
 * A = r − b: the return itself, undiscounted (γ = 1), the same for every token of the trajectory.
 *
 * Source: REINFORCE, Williams 1992.
 */
export const returnAdvantage: AdvantageEstimator = {
  name: "return",
  summary: "The reward itself, less the batch's mean or not (REINFORCE).",
  source: "Williams, Machine Learning 8, 1992",
  needsGroups: false,
  options,
  estimate(trajectories, given) {
    const { baseline } = parseOptions(options, given, "return");
    const known = trajectories.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    const b = baseline === "none" ? 0 : mean(known);
    return trajectories.map(({ reward }) => (reward === null ? 0 : reward - b));
  },
};
