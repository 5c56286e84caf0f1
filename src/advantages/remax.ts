import { z } from "../base/schema.ts";
import { creditByAddress } from "./credit.ts";
import { defineEstimator } from "./estimator.ts";

/**
 * A = return − the reward of the group's baseline, the policy's greedy answer to the same prompt. A token's return is the trajectory's reward,
 * without the addressed rewards that came before it. A group whose baseline cannot be scored gives 0.
 *
 * Source: ReMax, arXiv 2310.10505, section 3.2; verl, compute_remax_outcome_advantage. The greedy rollouts are the sampler's.
 *
 * @example rewards 1, 0 and 0 of a group, the last one the greedy rollout's: 1, 0
 */
export const remax = defineEstimator({
  name: "remax",
  summary: "Reward less that of the greedy rollout of the same prompt (ReMax).",
  source: "ReMax, arXiv 2310.10505",
  needsGroups: false,
  needsBaselines: true,
  options: z.strictObject({}),
  estimate(trajectories) {
    const baselines = new Map(
      trajectories.flatMap(({ groupId, reward, isBaseline }) =>
        isBaseline && reward !== null ? [[groupId, reward] as const] : [],
      ),
    );
    const returns = creditByAddress(trajectories, "to-go", (reward) => reward);
    return trajectories.map(({ groupId, reward }, i) => {
      const baseline = baselines.get(groupId);
      if (reward === null || baseline === undefined) return 0;
      const own = returns[i] ?? 0;
      return typeof own === "number" ? own - baseline : own.map((each) => each - baseline);
    });
  },
});
