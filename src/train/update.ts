import type {
  Advantage,
  AdvantageEstimator,
  CreditTokens,
  Rewarded,
} from "../advantages/estimator.ts";
import { advantageEstimators } from "../advantages/index.ts";
import { groupedBy } from "../base/grouped-by.ts";
import { random } from "../base/random.ts";
import type { Engine, ForwardBackwardResult } from "../engine/engine.ts";
import { needsReference } from "../losses/index.ts";
import type { LossSpec } from "../losses/loss.ts";
import { type Scoring, type WeightedReward, weightsAt } from "../rollout/score.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import {
  estimatorOf,
  lossesOf,
  type OnPolicyAlgorithm,
  type OnPolicyOptions,
  recomputesOld,
} from "./algorithm.ts";
import { filters } from "./filters/index.ts";
import { tokenWeights } from "./loss-aggregation.ts";
import { adamAt } from "./optimizer-settings.ts";
import { mismatchKl } from "./rollout-metrics.ts";
import type { RolloutGroup } from "./scored-group.ts";
import { policyRows, type PolicyRow, tokensOf, weighted } from "./training-rows.ts";

interface UpdateRun {
  algorithm: OnPolicyAlgorithm;
  /** As they are at this step, without schedules. */
  options: OnPolicyOptions;
  engine: Engine;
  rewards: readonly WeightedReward[];
  scoring?: Pick<Scoring, "expression">;
  seed: number;
  /** 1 when absent. */
  learningRateFactor?: number;
}

/** A row with what its losses read, per target; 0 where it is not trained. */
interface ReadyRow extends PolicyRow {
  advantages: number[];
  oldLogprobs: readonly number[];
  refLogprobs: readonly number[];
}

/**
 * Learns from a batch: filters on raw scores, rows, log-probabilities, advantages, losses, optimiser steps.
 *
 * @param step from 0.
 * @returns metrics by name, and the number of tokens that the trainer computed.
 */
export async function updateOn(
  run: UpdateRun,
  step: number,
  trajectories: readonly Trajectory[],
): Promise<{ metrics: Record<string, number>; trained: number }> {
  const { algorithm, options, engine, seed } = run;
  const losses = lossesOf(algorithm, options);
  const { batch: kept, metrics } = filtered(run, trajectories);
  const rows = await readyRows(run, step, kept, losses);
  const add = (name: string, value: number): void => {
    metrics[name] = (metrics[name] ?? 0) + value;
  };
  const updates = options.epochs * options.minibatches;
  let trained = 0;
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    const order = random(seed).derive("minibatches", step, epoch).shuffle(rows);
    for (let part = 0; part < options.minibatches; part++) {
      const batch = order.filter((_, i) => i % options.minibatches === part);
      if (batch.length === 0) continue;
      for (const [l, loss] of losses.entries()) {
        const result = await forwardBackward(run, batch, loss);
        trained += batch.reduce((sum, row) => sum + row.inputs.length, 0);
        if (epoch === 0 && part === 0 && l === 0)
          metrics["mismatch/kl"] = mismatchKl(batch, result.logprobs);
        add(l === 0 ? "losses/policy" : `losses/${loss.name}`, result.loss / updates);
        for (const [name, value] of Object.entries(result.metrics)) add(name, value / updates);
      }
      const number = (step * options.epochs + epoch) * options.minibatches + part;
      const scheduled = adamAt(options.optimizer, number, options.steps * updates);
      const learningRate = scheduled.learningRate * (run.learningRateFactor ?? 1);
      const { gradNorm } = await engine.optimStep({ ...scheduled, learningRate });
      add("optimizer/grad_norm", gradNorm / updates);
      metrics["optimizer/learning_rate"] = learningRate;
    }
  }
  return { metrics, trained };
}

/** The trajectories whose groups pass every filter; baselines and others that are not trained stay, for their groups' sake. */
function filtered(
  { options }: UpdateRun,
  trajectories: readonly Trajectory[],
): { batch: readonly Trajectory[]; metrics: Record<string, number> } {
  if (options.filters.length === 0) return { batch: trajectories, metrics: {} };
  const groups: RolloutGroup[] = [...groupedBy(trajectories, ({ groupId }) => groupId)].map(
    ([groupId, members]) => ({ groupId, trajectories: members }),
  );
  let kept: readonly RolloutGroup[] = groups;
  for (const { name, ...given } of options.filters) {
    kept = filters.get(name, "algorithm.filters").keep(kept, given);
  }
  const ids = new Set(kept.map(({ groupId }) => groupId));
  return {
    batch: trajectories.filter(({ groupId }) => ids.has(groupId)),
    metrics: { "filters/kept_share": groups.length === 0 ? 0 : kept.length / groups.length },
  };
}

/** A row with the log-probabilities of its targets; null where nothing reads them. */
interface ScoredRow extends PolicyRow {
  logprobs: Record<keyof CreditTokens["logprobs"], ArrayLike<number> | null>;
}

/** Rows of a batch with their advantages: log-probabilities are computed first, since estimators read them. */
async function readyRows(
  run: UpdateRun,
  step: number,
  trajectories: readonly Trajectory[],
  losses: readonly LossSpec[],
): Promise<ReadyRow[]> {
  const named = estimatorOf(run.algorithm, run.options);
  const estimator = advantageEstimators.get(named.name, "algorithm.advantage");
  const rowsOf = await scoredRows(run, trajectories, { losses, reads: estimator.reads });
  const time = { step, totalSteps: run.options.steps };
  const weights = weightsAt(run.rewards, { ...run.scoring, ...time });
  const rewarded = trajectories.map((trajectory, i) => {
    const own = rowsOf[i] ?? [];
    const structure = tokensOf(trajectory, own);
    const logprobs = {
      old: byToken(structure, own, "old"),
      reference: byToken(structure, own, "reference"),
      policy: byToken(structure, own, "policy"),
    };
    const tokens = { ...structure, logprobs, values: null };
    return rewardedOf(trajectory, trajectories, weights, tokens);
  });
  const advantages = estimator.estimate(rewarded, named.options);
  return rowsOf.flatMap((own, i) =>
    own.map(({ logprobs, ...row }) => ({
      ...row,
      advantages: onTargets(row, advantages[i] ?? 0),
      oldLogprobs: Array.from(logprobs.old ?? [], finite),
      refLogprobs: Array.from(logprobs.reference ?? [], finite),
    })),
  );
}

/** The rows to train of each trajectory. Those that cannot be scored, and rollouts that are not for training, have none. */
async function scoredRows(
  { options, engine }: UpdateRun,
  trajectories: readonly Trajectory[],
  { losses, reads }: { losses: readonly LossSpec[] } & Pick<AdvantageEstimator, "reads">,
): Promise<ScoredRow[][]> {
  const rowsOf = trajectories.map((trajectory) =>
    trajectory.reward === null || trajectory.purpose !== "train"
      ? []
      : policyRows(trajectory, { lossOn: options.lossOn, role: "policy" }).filter(
          ({ trainedTokens }) => trainedTokens > 0,
        ),
  );
  const rows = rowsOf.flat();
  if (rows.length === 0) return rowsOf.map(() => []);
  const unweighted = rows.map((row) => weighted(row, 1));
  const recomputes = recomputesOld(options) || rows.some(hasUnsampled);
  const reference = losses.some(needsReference) || reads.includes("reference");
  const now = recomputes || reads.includes("policy") ? await engine.logprobs(unweighted) : null;
  const frozen = reference ? await engine.logprobs(unweighted, "reference") : null;
  let at = -1;
  return rowsOf.map((own) =>
    own.map((row) => {
      at += 1;
      const policy = now?.[at] ?? null;
      const old = recomputes ? policy : row.sampledLogprobs;
      return { ...row, logprobs: { old, policy, reference: frozen?.[at] ?? null } };
    }),
  );
}

/** Whether it trains tokens that the policy did not sample as they stand, such as a message that was rewritten. */
function hasUnsampled({ lossMask, sampledLogprobs }: PolicyRow): boolean {
  return lossMask.some((mask, i) => mask === 1 && Number.isNaN(sampledLogprobs[i]));
}

/** A trajectory as an estimator sees it. */
function rewardedOf(
  { groupId, reward, rewards: values, branch }: Trajectory,
  batch: readonly Trajectory[],
  weights: ReadonlyMap<string, number>,
  tokens: CreditTokens,
): Rewarded {
  const of = branch === undefined ? -1 : batch.findIndex(({ id }) => id === branch.of);
  return {
    ...{ groupId, reward, tokens },
    rewards: values.map((each) => ({ ...each, weight: weights.get(each.name) ?? 0 })),
    branch: branch === undefined || of < 0 ? null : { of, calls: branch.calls },
  };
}

/** Log-probabilities of rows' targets by token of the trajectory; null where no row has them. */
function byToken(
  { call }: Pick<CreditTokens, "call">,
  rows: readonly ScoredRow[],
  kind: keyof CreditTokens["logprobs"],
): number[] | null {
  if (rows.every(({ logprobs }) => logprobs[kind] === null)) return null;
  const values = call.map(() => NaN);
  for (const { tokens, lossMask, logprobs } of rows) {
    tokens.forEach((token, i) => {
      if (lossMask[i] === 1) values[token] = logprobs[kind]?.[i] ?? NaN;
    });
  }
  return values;
}

/** A trajectory's advantages on the targets of one of its rows. */
function onTargets({ lossMask, tokens }: PolicyRow, advantage: Advantage): number[] {
  if (typeof advantage === "number") return lossMask.map((mask) => mask * advantage);
  return lossMask.map((mask, i) => (mask === 1 ? (advantage[tokens[i] ?? 0] ?? 0) : 0));
}

function forwardBackward(
  { engine, options: { lossAggregation, fixedLength } }: UpdateRun,
  batch: readonly ReadyRow[],
  loss: LossSpec,
): Promise<ForwardBackwardResult> {
  const tokens = batch.map((row) => row.trainedTokens);
  const weights = tokenWeights(lossAggregation, tokens, fixedLength);
  const rows = batch.map((row, i) => {
    const { advantages, oldLogprobs, refLogprobs } = row;
    return weighted(row, weights[i] ?? 0, { advantages, oldLogprobs, refLogprobs });
  });
  return engine.forwardBackward(rows, loss);
}

function finite(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
