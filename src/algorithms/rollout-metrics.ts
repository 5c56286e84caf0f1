import { allEqual, sampleDeviation } from "../advantages/estimator.ts";
import { definedValues } from "../base/defined-values.ts";
import { groupedBy } from "../base/grouped-by.ts";
import { mean, meanOrZero } from "../base/statistics.ts";
import { repeatedQueryShare } from "../text/words.ts";
import {
  type EndReason,
  type Trajectory,
  firstAnswerAt,
  isInvalidTurn,
  policyTokenCount,
  searchQueries,
} from "../trajectory/trajectory.ts";
import type { PolicyRow } from "./training-rows.ts";

/** Ends at which a budget of turns, tokens or context was spent, and nothing was answered. */
const TRUNCATED = new Set<EndReason>([
  "turn-limit",
  "token-limit",
  "context-limit",
  "budget-limit",
]);

/**
 * What a batch of trajectories looks like, without its baselines, by metric (docs/files.md). Rewards by name as `reward/<name>`; entropy is estimated as
 * the mean −log-probability of sampled tokens (exact in expectation at the sampling temperature, without top-k, top-p and min-p). What does not apply to a batch is absent: of
 * rewards where none was scored, of queries where nothing was searched for.
 */
export function rolloutMetrics(all: readonly Trajectory[]): Record<string, number> {
  const trajectories = all.filter(({ purpose }) => purpose === "train");
  const share = (test: (trajectory: Trajectory) => boolean): number =>
    meanOrZero(trajectories.map((each) => Number(test(each))));
  const lengths = trajectories.map(policyTokenCount);
  const firstAnswers = trajectories.flatMap((each) => firstAnswerAt(each) ?? []);
  return definedValues({
    ...rewardMetrics(trajectories),
    ...searchMetrics(trajectories),
    ...callMetrics(trajectories),
    "rollout/turns": meanOrZero(trajectories.map(({ turns }) => turns.length)),
    "rollout/answer_rate": share(({ answer }) => answer !== null),
    "rollout/format_rate": share(({ turns }) => !turns.some(isInvalidTurn)),
    "rollout/truncated_share": share(({ end }) => TRUNCATED.has(end)),
    "rollout/first_answer": firstAnswers.length === 0 ? undefined : meanOrZero(firstAnswers),
    "rollout/completion_tokens": meanOrZero(lengths),
    "rollout/completion_tokens_max": lengths.reduce((a, b) => Math.max(a, b), 0),
    "rollout/entropy": -meanLogprob(trajectories),
    "rollout/unscored_share": share(({ reward }) => reward === null),
    "rollout/error_share": share(({ error }) => error !== undefined),
  });
}

/** Of all sampled tokens, without a list of them. */
function meanLogprob(trajectories: readonly Trajectory[]): number {
  let [sum, count] = [0, 0];
  for (const { logprobs } of trajectories.flatMap(({ calls }) =>
    calls.flatMap(({ completion }) => completion),
  )) {
    for (const each of logprobs ?? []) sum += each;
    count += logprobs?.length ?? 0;
  }
  return count === 0 ? 0 : sum / count;
}

/** Of rewards as they were combined, and of each by its name. */
function rewardMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const groups = [...groupedBy(trajectories, ({ groupId }) => groupId).values()];
  const scored = groups
    .map((members) => members.flatMap(({ reward }) => reward ?? []))
    .filter((rewards) => rewards.length > 0);
  const known = scored.flat();
  const flat = scored.filter(allEqual);
  return definedValues({
    "rollout/reward_mean": meanOrZero(known),
    // Deviations within groups, as what an update learns from: those of questions from each other teach nothing.
    "rollout/reward_std": meanOrZero(scored.map(sampleDeviation)),
    "rollout/reward_max": known.length === 0 ? undefined : known.reduce((a, b) => Math.max(a, b)),
    "rollout/reward_min": known.length === 0 ? undefined : known.reduce((a, b) => Math.min(a, b)),
    ...rewardMeans(trajectories),
    "rollout/zero_variance_share": scored.length === 0 ? 0 : flat.length / scored.length,
  });
}

function searchMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const queries = trajectories.map(searchQueries);
  const repeated = queries.flatMap((each) => repeatedQueryShare(each) ?? []);
  const shownAgain = trajectories.flatMap((each) => repeatedPassageShare(each) ?? []);
  return definedValues({
    "rollout/searches": meanOrZero(queries.map(({ length }) => length)),
    "rollout/duplicate_query_share": repeated.length === 0 ? undefined : meanOrZero(repeated),
    "rollout/duplicate_passage_share": shownAgain.length === 0 ? undefined : meanOrZero(shownAgain),
    "rollout/answer_after_search_share": meanOrZero(
      trajectories.map(({ answer }, i) => Number(answer !== null && (queries[i]?.length ?? 0) > 0)),
    ),
  });
}

/** Calls of all tools, searches among them. */
function callMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const calls = trajectories.map(({ turns }) => turns.flatMap(({ observations }) => observations));
  const failed = calls.flat().map(({ problem }) => Number(problem !== undefined));
  return definedValues({
    "rollout/tool_calls": meanOrZero(calls.map(({ length }) => length)),
    "rollout/tool_use_share": meanOrZero(calls.map(({ length }) => Number(length > 0))),
    "rollout/failed_call_share": failed.length === 0 ? undefined : meanOrZero(failed),
  });
}

/** Share of the passages shown by a trajectory's searches that it was shown before; null without any. */
function repeatedPassageShare({ turns }: Trajectory): number | null {
  const ids = turns.flatMap(({ observations }) =>
    observations.flatMap(({ passageIds = [] }) => passageIds),
  );
  return ids.length === 0 ? null : 1 - new Set(ids).size / ids.length;
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
  return meanOrZero(values);
}

/**
 * How old the weights are that sampled a batch, when training on it begins: optimiser steps that they lack, mean over trajectories. Absent
 * where no message has a version.
 */
export function staleness(
  trajectories: readonly Trajectory[],
  { policyVersion: trained }: { policyVersion: number },
): Record<string, number> {
  const ages = trajectories.flatMap(({ purpose, calls }) => {
    const versions = calls.flatMap(({ role, policyVersion }) =>
      role === "policy" && policyVersion !== null ? [policyVersion] : [],
    );
    const isTrained = purpose === "train" && versions.length > 0;
    return isTrained ? [trained - mean(versions)] : [];
  });
  return ages.length === 0 ? {} : { "rollout/staleness": mean(ages) };
}

function rewardMeans(trajectories: readonly Trajectory[]): Record<string, number> {
  const byName = groupedBy(
    trajectories.flatMap(({ rewards }) => rewards),
    ({ name }) => name,
  );
  const means = [...byName].flatMap(([name, rewards]) => {
    const known = rewards.flatMap(({ value }) => value ?? []);
    return known.length === 0 ? [] : [[`reward/${name}`, meanOrZero(known)] as const];
  });
  return Object.fromEntries(means);
}
