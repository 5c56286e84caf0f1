import { z } from "../base/schema.ts";
import { allEqual, rewardsByGroup, type AdvantageEstimator } from "./estimator.ts";

/**
 * A = r − mean of the group's other rewards = n / (n − 1) · (r − mean). Groups of one, and groups of equal
 * rewards, give exactly 0.
 *
 * Source: RLOO, Ahmadian et al., arXiv 2402.14740. Different here: a group of one gives 0 (verl's two versions disagree).
 *
 * @example rewards 1, 0, 0 of one group: 1, −.5, −.5
 */
export const leaveOneOut: AdvantageEstimator = {
  name: "leave-one-out",
  summary: "Reward against the mean of the group's other rewards (RLOO).",
  source: "RLOO, arXiv 2402.14740",
  needsGroups: true,
  options: z.strictObject({}),
  estimate(trajectories) {
    const groups = rewardsByGroup(trajectories);
    return trajectories.map(({ groupId, reward }) => {
      const group = groups.get(groupId) ?? [];
      if (reward === null || allEqual(group)) return 0;
      const others = group.reduce((sum, each) => sum + each, 0) - reward;
      return reward - others / (group.length - 1);
    });
  },
};
