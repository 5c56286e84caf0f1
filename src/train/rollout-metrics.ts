import { allEqual, mean, rewardsByGroup, sampleDeviation } from "../advantages/estimator.ts";
import { repeatedQueryShare } from "../text/words.ts";
import { searchQueries } from "../trajectory/search-queries.ts";
import { policyTokenCount } from "../trajectory/token-rows.ts";
import type { EndReason, Trajectory } from "../trajectory/trajectory.ts";
import type { PolicyRow } from "./training-rows.ts";

/** Ends at which a budget of turns, tokens or context was spent, and nothing was answered. */
const TRUNCATED = new Set<EndReason>([
  "turn-limit",
  "token-limit",
  "context-limit",
  "budget-limit",
]);

/**
 * What a batch of trajectories looks like, by metric (docs/metrics.md). Rewards by name as `reward/<name>`; entropy is estimated as
 * the mean −log-probability of sampled tokens (exact in expectation at temperature 1). What does not apply to a batch is absent: of
 * rewards where none was scored, of queries where nothing was searched for.
 */
export function rolloutMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const share = (test: (trajectory: Trajectory) => boolean): number =>
    mean(trajectories.map((each) => Number(test(each))));
  const logprobs = trajectories.flatMap(({ calls }) =>
    calls.flatMap(({ completion }) => completion.flatMap((segment) => segment.logprobs ?? [])),
  );
  const lengths = trajectories.map(policyTokenCount);
  return {
    ...rewardMetrics(trajectories),
    ...searchMetrics(trajectories),
    "rollout/turns": mean(trajectories.map(({ turns }) => turns.length)),
    "rollout/answer_rate": share(({ answer }) => answer !== null),
    "rollout/format_rate": share(({ turns }) =>
      turns.every(({ problems }) => problems.length === 0),
    ),
    "rollout/truncated_share": share(({ end }) => TRUNCATED.has(end)),
    "rollout/completion_tokens": mean(lengths),
    "rollout/completion_tokens_max": lengths.reduce((a, b) => Math.max(a, b), 0),
    "rollout/entropy": -mean(logprobs),
    "rollout/unscored_share": share(({ reward }) => reward === null),
    "rollout/error_share": share(({ error }) => error !== undefined),
  };
}

/** Of rewards as they were combined, and of each by its name. */
function rewardMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const groups = [...rewardsByGroup(trajectories).values()];
  const scored = groups.filter((rewards) => rewards.length > 0);
  const known = scored.flat();
  const flat = scored.filter(allEqual);
  return {
    "rollout/reward_mean": mean(known),
    // Deviations within groups, as what an update learns from: those of questions from each other teach nothing.
    "rollout/reward_std": mean(scored.map(sampleDeviation)),
    ...(known.length === 0
      ? {}
      : {
          "rollout/reward_max": known.reduce((a, b) => Math.max(a, b)),
          "rollout/reward_min": known.reduce((a, b) => Math.min(a, b)),
        }),
    ...rewardMeans(trajectories),
    "rollout/zero_variance_share": scored.length === 0 ? 0 : flat.length / scored.length,
  };
}

function searchMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const queries = trajectories.map(searchQueries);
  const repeated = queries.flatMap((each) => repeatedQueryShare(each) ?? []);
  return {
    "rollout/searches": mean(queries.map(({ length }) => length)),
    ...(repeated.length === 0 ? {} : { "rollout/duplicate_query_share": mean(repeated) }),
    "rollout/answer_after_search_share": mean(
      trajectories.map(({ answer }, i) => Number(answer !== null && (queries[i]?.length ?? 0) > 0)),
    ),
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
