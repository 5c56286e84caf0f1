import { mean } from "../advantages/estimator.ts";
import { policyTokenCount } from "../trajectory/token-rows.ts";
import { searchCount } from "../trajectory/search-count.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { PolicyRow } from "./training-rows.ts";

/**
 * What a batch of trajectories looks like, by metric. Rewards by name as `reward/<name>`; entropy is estimated as the mean
 * −log-probability of sampled tokens (exact in expectation at temperature 1).
 */
export function rolloutMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const share = (test: (trajectory: Trajectory) => boolean): number =>
    mean(trajectories.map((each) => Number(test(each))));
  const groups = new Map<string, number[]>();
  for (const { groupId, reward } of trajectories) {
    if (reward !== null) groups.set(groupId, [...(groups.get(groupId) ?? []), reward]);
  }
  const flat = [...groups.values()].filter((rewards) =>
    rewards.every((each) => each === rewards[0]),
  );
  const known = [...groups.values()].flat();
  const logprobs = trajectories.flatMap(({ calls }) =>
    calls.flatMap(({ completion }) => completion.flatMap((segment) => segment.logprobs ?? [])),
  );
  return {
    "rollout/reward_mean": mean(known),
    ...rewardMeans(trajectories),
    "rollout/searches": mean(trajectories.map(searchCount)),
    "rollout/turns": mean(trajectories.map(({ turns }) => turns.length)),
    "rollout/answer_rate": share(({ answer }) => answer !== null),
    "rollout/format_rate": share(({ turns }) =>
      turns.every(({ problems }) => problems.length === 0),
    ),
    "rollout/completion_tokens": mean(trajectories.map(policyTokenCount)),
    "rollout/entropy": -mean(logprobs),
    "rollout/zero_variance_share": groups.size === 0 ? 0 : flat.length / groups.size,
    "rollout/unscored_share": share(({ reward }) => reward === null),
    "rollout/error_share": share(({ error }) => error !== undefined),
  };
}

/**
 * KL(sampler ‖ trainer) of the tokens of a batch before its first update: how far the two compute different models. Schulman's k3
 * with d = trainer − sampled: eᵈ − d − 1 ≥ 0, mean over tokens, nats.
 */
export function mismatchKl(
  rows: readonly PolicyRow[],
  trainerLogprobs: readonly Float32Array[],
): number {
  const values = rows.flatMap((row, r) =>
    row.sampledLogprobs.flatMap((sampled, i) => {
      const d = (trainerLogprobs[r]?.[i] ?? NaN) - sampled;
      return Number.isNaN(d) ? [] : [Math.exp(d) - d - 1];
    }),
  );
  return mean(values);
}

function rewardMeans(trajectories: readonly Trajectory[]): Record<string, number> {
  const byName = new Map<string, number[]>();
  for (const { rewards } of trajectories) {
    for (const { name, value } of rewards) {
      if (value !== null) byName.set(name, [...(byName.get(name) ?? []), value]);
    }
  }
  return Object.fromEntries([...byName].map(([name, values]) => [`reward/${name}`, mean(values)]));
}
