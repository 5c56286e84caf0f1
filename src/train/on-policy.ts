import { ExternalError } from "../base/errors.ts";
import { seedFrom } from "../base/random.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environments/environment.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Sampling } from "../rollout/sampling.ts";
import { type NamedStrategy, openStrategy } from "../rollout/strategies/named-strategy.ts";
import {
  scoreTrajectories,
  type Scoring,
  type Unscored,
  type WeightedReward,
} from "../rollout/score.ts";
import { policyTokenCount } from "../trajectory/token-rows.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { type OnPolicyAlgorithm, type OnPolicyOptions, optionsAt } from "./algorithm.ts";
import { type HistoryState, openHistory, type TrainingHistory } from "./history.ts";
import { rolloutMetrics } from "./rollout-metrics.ts";
import { samplers } from "./samplers/index.ts";
import type { RolloutRequest, Sampler } from "./samplers/sampler.ts";
import type { ScoredGroup } from "./scored-group.ts";
import { updateOn } from "./update.ts";

export type { OnPolicyOptions } from "./algorithm.ts";

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
  /** To continue after this step. */
  state: LoopState;
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
  /** The reward expression, models that rewards ask, and whatever else they may use. */
  scoring?: Scoring;
  sampling: Sampling;
  seed: number;
  /** Steps already done: a resumed run continues as if it had not stopped. */
  firstStep: number;
  /** As the last of these steps gave it (`OnPolicyStep.state`); null where there is none. */
  state?: LoopState | null;
  /** The learning rate is multiplied by it: below 1 after a rollback. 1 when absent. */
  learningRateFactor?: number;
  signal: AbortSignal;
  /** Trajectories of a step, from 0, that were sampled before; null, or without it, the step samples its own. */
  batchOf?: (step: number) => Promise<Trajectory[] | null>;
  /** Before a step's rollouts. @param step from 0. */
  onStepBegin?: (step: number) => Promise<void>;
  /** Rewards for which a model failed. @param step from 1. */
  onUnscored?: (unscored: readonly Unscored[], step: number) => Promise<void>;
  /** Between a step's rollouts and its update. @param step from 1. */
  onBatch?: (trajectories: readonly Trajectory[], step: number) => Promise<void>;
  /** @returns whether to continue. */
  onStep(step: OnPolicyStep): Promise<boolean>;
}

/** What a training must remember beside its weights, as JSON: kept with each checkpoint. */
export interface LoopState {
  history: HistoryState;
  sampler: unknown;
  /** β of `algorithm.klReward` for the next step; absent without it. */
  klCoef?: number;
}

/**
 * Rollouts, rewards, advantages, update; once per step, until the last or until `onStep` ends it. Everything random derives from the
 * seed and the step's number.
 * @throws {ExternalError} ROLLOUTS_FAILED
 */
export async function trainOnPolicy(run: OnPolicyRun): Promise<void> {
  const { options, tasks, seed } = run;
  const { promptsPerStep, groupSize } = options;
  const history = openHistory(run.state?.history ?? null);
  const { name, ...samplerOptions } = options.sampler;
  const sampler = samplers
    .get(name, "algorithm.sampler")
    .open(samplerOptions, { tasks, seed, promptsPerStep, groupSize }, run.state?.sampler ?? null);
  let klCoef = run.state?.klCoef;
  for (let step = run.firstStep; step < options.steps; step++) {
    run.signal.throwIfAborted();
    await run.onStepBegin?.(step);
    const begun = performance.now();
    const known = (await run.batchOf?.(step)) ?? null;
    const { trajectories, sampled, metrics } =
      known === null
        ? await rollOutStep({ ...run, sampler, history }, step)
        : { trajectories: known, sampled: known, metrics: {} };
    const sampledAt = performance.now();
    requireSomeRollout(sampled, step + 1);
    await run.onBatch?.(trajectories, step + 1);
    const updateBegun = performance.now();
    const updated = await updateOn(
      { ...run, options: optionsAt(options, step), ...(klCoef === undefined ? {} : { klCoef }) },
      step,
      trajectories,
    );
    klCoef = updated.klCoef;
    const continues = await run.onStep({
      step: step + 1,
      metrics: { ...rolloutMetrics(trajectories), ...metrics, ...updated.metrics },
      timings: { rollout: sampledAt - begun, update: performance.now() - updateBegun },
      tokens: {
        sampled: sampled.reduce((n, each) => n + policyTokenCount(each), 0),
        trained: updated.trained,
      },
      trajectories,
      state: {
        ...{ history: history.state(), sampler: sampler.state() },
        ...(klCoef === undefined ? {} : { klCoef }),
      },
    });
    if (!continues) return;
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
    `step ${step}: all ${trajectories.length} rollouts failed, the first with ${first.code}: ${first.message} Earlier steps are kept: fix the cause, then start the same command with --resume.`,
  );
}

interface SamplingRun extends OnPolicyRun {
  sampler: Sampler;
  history: TrainingHistory;
}

interface SampledStep {
  /** The batch. */
  trajectories: Trajectory[];
  /** Everything that was sampled. */
  sampled: Trajectory[];
  metrics: Record<string, number>;
}

/** Rollouts, round by round, until the sampler has its batch. */
async function rollOutStep(run: SamplingRun, step: number): Promise<SampledStep> {
  const { sampler, history } = run;
  const groups: ScoredGroup[] = [];
  let requests = sampler.next(step, history);
  let batch: readonly ScoredGroup[] = [];
  for (let round = 1; requests.length > 0; round++) {
    addRollouts(groups, requests, await rollOutRequests(run, step, requests));
    await scoreStep(run, step, groups);
    const accepted = sampler.accept(groups, step, round);
    batch = accepted.batch;
    requests = accepted.more;
  }
  history.record(step, groups);
  const trajectoriesOf = (some: readonly ScoredGroup[]) =>
    some.flatMap(({ trajectories }) => trajectories);
  const rejected = groups.length - batch.length;
  return {
    trajectories: trajectoriesOf(batch),
    sampled: trajectoriesOf(groups),
    metrics: rejected === 0 ? {} : { "sampler/accepted_share": batch.length / groups.length },
  };
}

/** Rollouts of requests, in their order; per request. */
async function rollOutRequests(
  run: SamplingRun,
  step: number,
  requests: readonly RolloutRequest[],
): Promise<Trajectory[][]> {
  const { policy, environment, signal, options, seed, scoring: { roles } = {} } = run;
  const strategy = openStrategy(run.strategy, "strategy");
  const jobs = requests.map((request) => {
    const { task, groupId, rollouts, first = 0, purpose = "train", sampling } = request;
    return Array.from({ length: rollouts }, (_, k) => {
      const id = `${groupId}-${first + k}`;
      return strategy.runAll({
        ...{ policy, environment, task, id, groupId, purpose, signal },
        sampling: { ...run.sampling, ...sampling },
        progress: { step, totalSteps: options.steps },
        seed: seedFrom(seed, "rollout", id),
        ...(roles === undefined ? {} : { roles }),
      });
    });
  });
  return Promise.all(jobs.map(async (group) => (await Promise.all(group)).flat()));
}

/** Scores everything that the step has sampled: rewards that compare see whole groups, and all groups. */
async function scoreStep(
  run: SamplingRun,
  step: number,
  groups: readonly ScoredGroup[],
): Promise<void> {
  const { signal, options, history } = run;
  const scored = groups.flatMap(({ task, trajectories }) =>
    trajectories.map((trajectory) => ({ trajectory, task })),
  );
  const time = { step, totalSteps: options.steps, history, signal };
  const unscored = await scoreTrajectories(scored, run.rewards, { ...run.scoring, ...time });
  if (unscored.length > 0) await run.onUnscored?.(unscored, step + 1);
}

/** Adds each request's rollouts to its group, which may have some already. */
function addRollouts(
  groups: ScoredGroup[],
  requests: readonly RolloutRequest[],
  rollouts: readonly Trajectory[][],
): void {
  requests.forEach(({ groupId, task }, i) => {
    const made = rollouts[i] ?? [];
    const at = groups.findIndex((group) => group.groupId === groupId);
    const known = groups[at];
    if (known === undefined) groups.push({ groupId, task, trajectories: made });
    else groups[at] = { ...known, trajectories: [...known.trajectories, ...made] };
  });
}
