import { advantageEstimators } from "../advantages/index.ts";
import { ExternalError } from "../base/errors.ts";
import type { PartWithOptions } from "../base/part-schema.ts";
import { random, seedFrom } from "../base/random.ts";
import { z } from "../base/schema.ts";
import type { Engine, ForwardBackwardResult } from "../engine/engine.ts";
import type { Environment } from "../env/environments/environment.ts";
import { hasReference, type LossSpec } from "../losses/loss.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Sampling } from "../rollout/sampling.ts";
import { type NamedStrategy, openStrategy } from "../rollout/strategies/named-strategy.ts";
import { scoreTrajectories, type WeightedReward } from "../rollout/score.ts";
import { policyTokenCount } from "../trajectory/token-rows.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { lossAggregations, tokenWeights } from "./loss-aggregation.ts";
import { adamAt, optimizerSchema } from "./optimizer-settings.ts";
import { mismatchKl, rolloutMetrics } from "./rollout-metrics.ts";
import { policyRows, weighted, type PolicyRow } from "./training-rows.ts";

/** Options that every algorithm of this loop has. */
export const onPolicyShape = {
  /** 0 trains nothing: what an untrained arm of a claim is. */
  steps: z.int().min(0).default(40),
  /** Questions per step. */
  promptsPerStep: z.int().min(1).default(16),
  /** Trajectories per question (G). */
  groupSize: z.int().min(1).default(8),
  /** Times that each batch is gone through. */
  epochs: z.int().min(1).default(1),
  /** Optimiser steps per epoch: the batch is dealt into so many parts, by trajectory. */
  minibatches: z.int().min(1).default(1),
  lossAggregation: z.enum(lossAggregations).default("token-mean"),
  /** L of fixed-length-mean, tokens. */
  fixedLength: z.int().min(1).default(512),
  /** Whose tokens are trained. Anything but the policy's alone is a control. */
  lossOn: z
    .array(z.enum(["policy", "environment", "template", "inserted"]))
    .min(1)
    .default(["policy"]),
  /** Groups whose rewards are all equal: kept (they count in the denominators) or left out. */
  zeroVarianceGroups: z.enum(["keep", "skip"]).default("keep"),
  /** Old log-probabilities of the ratio: as sampled, or computed again before the first update (verl). */
  oldLogprobs: z.enum(["sampled", "recomputed"]).default("sampled"),
  optimizer: optimizerSchema.prefault({}),
};

export type OnPolicyOptions = z.output<z.ZodObject<typeof onPolicyShape>>;

/** Whether log-probabilities of a batch are computed once more, under the weights that it was sampled with. */
export function recomputesOld({
  oldLogprobs,
  lossOn,
}: Pick<OnPolicyOptions, "oldLogprobs" | "lossOn">): boolean {
  // What the policy did not write was not sampled.
  return oldLogprobs === "recomputed" || lossOn.some((owner) => owner !== "policy");
}

/** What an algorithm page adds to the loop: which advantages, which loss. Options are those of its own schema. */
export interface OnPolicyAlgorithm extends PartWithOptions {
  readonly source: string;
  estimator(options: Record<string, unknown>): { name: string; options: Record<string, unknown> };
  loss(options: Record<string, unknown>): LossSpec;
}

/** One step's outcome. */
export interface OnPolicyStep {
  /** From 1. */
  step: number;
  /** By the field's names, `group/snake_case`; the same for the same seed. */
  metrics: Record<string, number>;
  /** Milliseconds by part. */
  timings: { rollout: number; update: number };
  /** Tokens sampled and tokens computed by the trainer. */
  tokens: { sampled: number; trained: number };
  trajectories: Trajectory[];
}

export interface OnPolicyRun {
  algorithm: OnPolicyAlgorithm;
  options: OnPolicyOptions;
  engine: Engine;
  policy: Policy;
  environment: Environment;
  /** The strategy that rollouts follow: an agent's, or a control's. */
  strategy: NamedStrategy;
  tasks: readonly Task[];
  rewards: readonly WeightedReward[];
  sampling: Sampling;
  seed: number;
  /** Steps already done: a resumed run goes on as if it had not stopped. */
  firstStep: number;
  /** The learning rate is multiplied by it: below 1 after a run has gone back. 1 when absent. */
  learningRateFactor?: number;
  signal: AbortSignal;
  /** Trajectories of a step, from 0, that were sampled before; null, or without it, the step samples its own. */
  batchOf?: (step: number) => Promise<Trajectory[] | null>;
  /** Between a step's rollouts and its update. @param step from 1. */
  onBatch?: (trajectories: readonly Trajectory[], step: number) => Promise<void>;
  /** @returns whether to go on. */
  onStep(step: OnPolicyStep): Promise<boolean>;
}

/**
 * Rollouts, rewards, advantages, update; once per step, until the last or until `onStep` has had enough. Everything random derives
 * from the seed and the step's number.
 * @throws {ExternalError} ROLLOUTS_FAILED
 */
export async function trainOnPolicy(run: OnPolicyRun): Promise<void> {
  for (let step = run.firstStep; step < run.options.steps; step++) {
    run.signal.throwIfAborted();
    const begun = performance.now();
    const trajectories = (await run.batchOf?.(step)) ?? (await rollOutStep(run, step));
    const sampledAt = performance.now();
    requireSomeRollout(trajectories, step + 1);
    await run.onBatch?.(trajectories, step + 1);
    const updateBegun = performance.now();
    const { metrics, trained } = await update(run, step, trajectories);
    const goesOn = await run.onStep({
      step: step + 1,
      metrics: { ...rolloutMetrics(trajectories), ...metrics },
      timings: { rollout: sampledAt - begun, update: performance.now() - updateBegun },
      tokens: { sampled: trajectories.reduce((n, each) => n + policyTokenCount(each), 0), trained },
      trajectories,
    });
    if (!goesOn) return;
  }
}

/**
 * A step whose rollouts all failed teaches nothing, and the next would fare no better: what answers, or a tool, is down.
 * @throws {ExternalError} ROLLOUTS_FAILED
 */
function requireSomeRollout(trajectories: readonly Trajectory[], step: number): void {
  const [first, ...others] = trajectories.map(({ error }) => error);
  if (first === undefined || others.includes(undefined)) return;
  throw new ExternalError(
    "ROLLOUTS_FAILED",
    `step ${step}: all ${trajectories.length} rollouts failed, the first with ${first.code}: ${first.message} Steps before are kept: mend it, and start the same command with --resume.`,
  );
}

/** The step's questions: each pass over the tasks has its own order. */
function tasksOf(run: OnPolicyRun, step: number): Task[] {
  const { tasks, seed, options } = run;
  const orders = new Map<number, Task[]>();
  return Array.from({ length: options.promptsPerStep }, (_, i) => {
    const number = step * options.promptsPerStep + i;
    const pass = Math.floor(number / tasks.length);
    const order = orders.get(pass) ?? random(seed).derive("tasks", pass).shuffle(tasks);
    orders.set(pass, order);
    return order[number % tasks.length]!;
  });
}

async function rollOutStep(run: OnPolicyRun, step: number): Promise<Trajectory[]> {
  const { policy, environment, sampling, signal, options, seed } = run;
  const strategy = openStrategy(run.strategy, "strategy");
  const tasks = tasksOf(run, step);
  const jobs = tasks.flatMap((task, p) =>
    Array.from({ length: options.groupSize }, async (_, g) => {
      const id = `${step + 1}-${p}-${g}`;
      const trajectory = await strategy.run({
        ...{ policy, environment, task, id, sampling, signal },
        progress: { step, totalSteps: options.steps },
        ...{
          groupId: `${step + 1}-${p}`,
          purpose: "train" as const,
          seed: seedFrom(seed, "rollout", id),
        },
      });
      return { trajectory, task };
    }),
  );
  const scored = await Promise.all(jobs);
  await scoreTrajectories(scored, run.rewards);
  return scored.map(({ trajectory }) => trajectory);
}

interface AdvantagedRow extends PolicyRow {
  /** Per target; 0 where the policy did not write. */
  advantages: number[];
  oldLogprobs: readonly number[];
  refLogprobs: readonly number[];
}

async function update(
  run: OnPolicyRun,
  step: number,
  trajectories: readonly Trajectory[],
): Promise<{ metrics: Record<string, number>; trained: number }> {
  const { algorithm, options, engine, seed } = run;
  const metrics: Record<string, number> = {};
  const loss = algorithm.loss(options);
  const rows = await prepareRows(run, trajectories, loss);
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
      const result = await forwardBackward(engine, batch, loss, options);
      trained += batch.reduce((sum, row) => sum + row.inputs.length, 0);
      if (epoch === 0 && part === 0) metrics["mismatch/kl"] = mismatchKl(batch, result.logprobs);
      const number = (step * options.epochs + epoch) * options.minibatches + part;
      const scheduled = adamAt(options.optimizer, number, options.steps * updates);
      const learningRate = scheduled.learningRate * (run.learningRateFactor ?? 1);
      const adam = { ...scheduled, learningRate };
      const { gradNorm } = await engine.optimStep(adam);
      add("losses/policy", result.loss / updates);
      for (const [name, value] of Object.entries(result.metrics)) add(name, value / updates);
      add("optimizer/grad_norm", gradNorm / updates);
      metrics["optimizer/learning_rate"] = learningRate;
    }
  }
  return { metrics, trained };
}

/** Sequences with their advantages, old and reference log-probabilities; groups without variance may be left out. */
async function prepareRows(
  run: OnPolicyRun,
  trajectories: readonly Trajectory[],
  loss: LossSpec,
): Promise<AdvantagedRow[]> {
  const { algorithm, options, engine } = run;
  const { name, options: estimatorOptions } = algorithm.estimator(options);
  const rewarded = trajectories.map((trajectory) => {
    const { groupId, reward } = trajectory;
    return { groupId, reward, policyTokens: policyTokenCount(trajectory) };
  });
  const estimator = advantageEstimators.get(name, "algorithm");
  const advantages = estimator.estimate(rewarded, estimatorOptions);
  const idle = new Set(
    options.zeroVarianceGroups === "skip" ? zeroVarianceGroups(trajectories) : [],
  );
  const rows = trajectories.flatMap((trajectory, i) =>
    trajectory.reward === null || idle.has(trajectory.groupId)
      ? []
      : policyRows(trajectory, options.lossOn)
          .filter((row) => row.trainedTokens > 0)
          .map((row) => ({ ...row, advantages: spread(row, advantages[i] ?? 0) })),
  );
  const unweighted = rows.map((row) => weighted(row, 1));
  const old = recomputesOld(options) && rows.length > 0 ? await engine.logprobs(unweighted) : null;
  const needsReference = hasReference(loss.options) && rows.length > 0;
  const reference = needsReference ? await engine.logprobs(unweighted, "reference") : null;
  return rows.map((row, i) => ({
    ...row,
    oldLogprobs: Array.from(old?.[i] ?? row.sampledLogprobs, finite),
    refLogprobs: Array.from(reference?.[i] ?? [], finite),
  }));
}

function forwardBackward(
  engine: Engine,
  batch: readonly AdvantagedRow[],
  loss: LossSpec,
  { lossAggregation, fixedLength }: OnPolicyOptions,
): Promise<ForwardBackwardResult> {
  const weights = tokenWeights(
    lossAggregation,
    batch.map((row) => row.trainedTokens),
    fixedLength,
  );
  const rows = batch.map((row, i) => {
    const { advantages, oldLogprobs, refLogprobs } = row;
    return weighted(row, weights[i] ?? 0, { advantages, oldLogprobs, refLogprobs });
  });
  return engine.forwardBackward(rows, loss);
}

/** Group ids whose scored rewards are all equal. */
function zeroVarianceGroups(trajectories: readonly Trajectory[]): string[] {
  const rewards = new Map<string, Set<number>>();
  for (const { groupId, reward } of trajectories) {
    if (reward !== null)
      rewards.set(groupId, (rewards.get(groupId) ?? new Set<number>()).add(reward));
  }
  return [...rewards].flatMap(([groupId, values]) => (values.size < 2 ? [groupId] : []));
}

/** A trajectory's advantages on the targets of one of its rows: tokens of other owners carry the whole trajectory's. */
function spread(row: PolicyRow, advantage: number | readonly number[]): number[] {
  if (typeof advantage === "number") return row.lossMask.map((mask) => mask * advantage);
  return row.policyIndex.map((index) => advantage[index] ?? 0);
}

function finite(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
