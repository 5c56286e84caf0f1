import { z } from "../base/schema.ts";
import { mean } from "../base/statistics.ts";
import { addressedCredit, type Baseline, comparisons, creditByAddress } from "./credit.ts";
import { allEqual, defineEstimator, sampleDeviation } from "./estimator.ts";

const options = z.strictObject({
  /** Divide by the group's deviation, or only subtract its mean (Dr.GRPO). */
  scale: z.enum(["group", "none"]).default("group"),
  /** Added to the deviation. verl 1e-6, TRL 1e-4, OpenRLHF 1e-9. */
  epsilon: z.number().positive().default(1e-6),
  /** What rewards of a call, turn or span move: their own tokens, these and all before, or the whole trajectory. */
  addressed: addressedCredit,
  /**
   * With which of the group an addressed reward is compared: with all of its name when absent, with those at the same turn, or with none:
   * weight times value is its advantage, as a teacher's signal beside the outcome is.
   */
  among: z.enum(comparisons).optional(),
});

/**
 * A = (r − mean) / (deviation + ε) within the group, with the sample deviation (n − 1). Groups whose rewards are all equal, and
 * groups of one, give exactly 0 (tested before subtracting: a rounded mean would leave dust that the division enlarges). Addressed
 * rewards are normalised apart from the outcome, over all of their name in the group, as in the paper, or turn by turn.
 *
 * Source: GRPO, arXiv 2402.03300, section 4.1.2, and 4.1.3 for `addressed: to-go`; scale "none": Dr.GRPO, arXiv 2503.20783.
 * Different here: unscorable trajectories leave mean and deviation; verl gives a group of one its raw reward.
 *
 * @example rewards 1, 0, 0, 1 of one group: .866, −.866, −.866, .866; with scale none ±.5
 */
export const groupAdvantage = defineEstimator({
  name: "group",
  summary: "Reward against the group's mean, divided by its deviation or not (GRPO, Dr.GRPO).",
  source: "GRPO, arXiv 2402.03300, section 4.1.2; Dr.GRPO, arXiv 2503.20783",
  needsGroups: true,
  options,
  estimate: (trajectories, { scale, epsilon, addressed, among }) => {
    const baseline: Baseline = (reward, group) => {
      if (allEqual(group)) return 0;
      const centred = reward - mean(group);
      return scale === "none" ? centred : centred / (sampleDeviation(group) + epsilon);
    };
    return creditByAddress(trajectories, addressed, baseline, among);
  },
});
