import { creditByAddress, defineEstimator, mean, z } from "agentrl";

export default defineEstimator({
  name: "above-mean",
  summary: "Reward minus the group's mean; rewards below the mean count less.",
  source: "my own",
  needsGroups: true,
  options: z.strictObject({ below: z.number().min(0).max(1).default(0.5) }),
  estimate: (trajectories, { below }) =>
    creditByAddress(trajectories, "trajectory", (reward, group) => {
      const difference = reward - mean(group);
      return difference < 0 ? below * difference : difference;
    }),
});
