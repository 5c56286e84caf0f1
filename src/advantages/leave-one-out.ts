import { z } from "../base/schema.ts";
import { addressedCredit, creditByAddress } from "./credit.ts";
import { allEqual, defineEstimator } from "./estimator.ts";

/**
 * A = r − mean of the group's other rewards = n / (n − 1) · (r − mean). Groups of one, and groups of equal
 * rewards, give exactly 0.
 *
 * Source: RLOO, Ahmadian et al., arXiv 2402.14740. Different here: a group of one gives 0 (verl's two versions disagree).
 *
 * @example rewards 1, 0, 0 of one group: 1, −.5, −.5
 */
export const leaveOneOut = defineEstimator({
  name: "leave-one-out",
  summary: "Reward against the mean of the group's other rewards (RLOO).",
  source: "RLOO, arXiv 2402.14740",
  needsGroups: true,
  options: z.strictObject({ addressed: addressedCredit }),
  estimate: (trajectories, { addressed }) =>
    creditByAddress(trajectories, addressed, (reward, group) => {
      if (allEqual(group)) return 0;
      const others = group.reduce((sum, each) => sum + each, 0) - reward;
      return reward - others / (group.length - 1);
    }),
});
