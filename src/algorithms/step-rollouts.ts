import { ExternalError } from "../base/errors.ts";
import { seedFrom } from "../base/random.ts";
import type { Environment } from "../env/environments/environment.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Sampling } from "../rollout/sampling.ts";
import {
  type Scoring,
  type Unscored,
  type WeightedReward,
  scoreTrajectories,
} from "../rollout/score.ts";
import { type NamedStrategy, loadStrategy } from "../rollout/strategies/named-strategy.ts";
import type { Task } from "../trajectory/task.ts";
import { type Trajectory, policyTokenCount } from "../trajectory/trajectory.ts";
import type { OnPolicyOptions } from "./algorithm.ts";
import { type HistoryState, type TrainingHistory, openHistory } from "./history.ts";
import { samplers } from "./samplers/index.ts";
import type { RolloutRequest, Sampler } from "./samplers/sampler.ts";
import type { ScoredGroup } from "./scored-group.ts";

/** What rollouts need to know of their run. */
export interface RolloutRun {
  options: OnPolicyOptions;
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
  /** As the last step gave it; null where there is none. */
  state?: RolloutState | null;
  signal: AbortSignal;
  /** Rollouts that begin after this call sample from the weights of this moment. Needed with `maxStepsOffPolicy`. */
  holdWeights?: () => Promise<void>;
  /** Trajectories of a step, from 0, that were sampled before; null, or without it, the step samples its own. */
  batchOf?: (step: number) => Promise<Trajectory[] | null>;
  /** Rewards for which a model failed. @param step from 1. */
  onUnscored?: (unscored: readonly Unscored[], step: number) => Promise<void>;
}

/** What rollouts must remember from step to step, as JSON. */
export interface RolloutState {
  history: HistoryState;
  sampler: unknown;
  /** The next step's rollouts, where they were sampled while this one trained: the weights that sampled them are gone. */
  ahead?: StepBatch;
}

/** What a step learns from. */
export interface StepBatch {
  /** From 0. */
  step: number;
  trajectories: Trajectory[];
  /** Of everything that was sampled for it, rejected groups included. */
  sampledTokens: number;
  /** Of the sampler. */
  metrics: Record<string, number>;
}

/** The rollouts of a run, step after step. */
export interface StepRollouts {
  /** @throws {ExternalError} ROLLOUTS_FAILED */
  batch(step: number): Promise<StepBatch>;
  /**
   * Trains on a batch; with `maxStepsOffPolicy` the next batch is sampled meanwhile, and this waits for both.
   * @param train gets nothing from the rollouts: they see the weights from before it, and everything else as if it were done.
   */
  during<T>(step: number, train: () => Promise<T>): Promise<T>;
  /** To continue after the last batch. */
  state(): RolloutState;
}

/** Opens the sampler and the history as the run's state left them. */
export function openStepRollouts(run: RolloutRun): StepRollouts {
  const { options, tasks, seed } = run;
  const { promptsPerStep, groupSize } = options;
  const history = openHistory(run.state?.history ?? null);
  const { name, ...samplerOptions } = options.sampler;
  const sampler = samplers
    .get(name, "algorithm.sampler")
    .open(samplerOptions, { tasks, seed, promptsPerStep, groupSize }, run.state?.sampler ?? null);
  let ahead = run.state?.ahead ?? null;
  const sample = async (step: number, signal: AbortSignal): Promise<StepBatch> => {
    // Before anything else is awaited: what trains beside it would change the weights.
    await run.holdWeights?.();
    const known = (await run.batchOf?.(step)) ?? null;
    const { sampled, ...rest } =
      known === null
        ? await rollOutStep({ ...run, signal, sampler, history }, step)
        : { trajectories: known, sampled: known, metrics: {} };
    requireSomeRollout(sampled, step + 1);
    // A branch has copies of its parent's calls.
    const sampledTokens = sampled.reduce(
      (n, { calls, branch }) => n + policyTokenCount({ calls: calls.slice(branch?.calls ?? 0) }),
      0,
    );
    return { step, ...rest, sampledTokens };
  };
  return {
    async batch(step) {
      const batch = ahead?.step === step ? ahead : await sample(step, run.signal);
      ahead = null;
      return batch;
    },
    async during(step, train) {
      const isLast = step + 1 >= options.steps;
      if (options.maxStepsOffPolicy === 0 || isLast || run.batchOf !== undefined) return train();
      // The run's own signal would lose the step that trains: without the next batch there is no checkpoint of it.
      const stop = new AbortController();
      const next = sample(step + 1, stop.signal);
      next.catch(() => undefined);
      try {
        const trained = await train();
        ahead = await next;
        return trained;
      } catch (error) {
        stop.abort();
        throw error;
      }
    },
    state: () => ({
      history: history.state(),
      sampler: sampler.state(),
      ahead: ahead ?? undefined,
    }),
  };
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
    `step ${step}: all ${trajectories.length} rollouts failed, the first with ${first.code}: ${first.message} Steps up to the newest checkpoint are kept: fix the cause, then start the same command with --resume.`,
  );
}

interface SamplingRun extends RolloutRun {
  sampler: Sampler;
  history: TrainingHistory;
}

interface SampledStep {
  /** The batch. */
  trajectories: Trajectory[];
  /** Everything that was sampled in this step. */
  sampled: Trajectory[];
  metrics: Record<string, number>;
}

/** Rollouts, round by round, until the sampler has its batch. */
async function rollOutStep(run: SamplingRun, step: number): Promise<SampledStep> {
  const { sampler, history } = run;
  const groups: ScoredGroup[] = [];
  const sampled: Trajectory[] = [];
  let requests = sampler.next(step, history);
  let batch: readonly ScoredGroup[] = [];
  for (let round = 1; requests.length > 0; round++) {
    const made = await rollOutRequests(run, step, requests);
    sampled.push(...made.flat());
    addRollouts(groups, requests, made);
    await scoreStep(run, step, groups);
    const accepted = sampler.accept(groups, step, round);
    batch = accepted.batch;
    requests = accepted.more;
  }
  history.record(step, groups);
  const rejected = groups.length - batch.length;
  return {
    trajectories: batch.flatMap(({ trajectories }) => trajectories),
    sampled,
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
  const strategy = await loadStrategy(run.strategy, "strategy");
  const jobs = requests.map((request) => {
    const { task, groupId, rollouts, first = 0, purpose = "train", sampling } = request;
    return Array.from({ length: rollouts }, (_, k) => {
      const id = `${groupId}-${first + k}`;
      return strategy.runAll({
        policy,
        environment,
        task,
        id,
        groupId,
        purpose,
        signal,
        sampling: { ...run.sampling, ...sampling },
        progress: { step, totalSteps: options.steps },
        seed: seedFrom(seed, "rollout", id),
        roles,
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

/** Adds each request's rollouts to its group, which may have some already, of this step or of earlier ones. */
function addRollouts(
  groups: ScoredGroup[],
  requests: readonly RolloutRequest[],
  rollouts: readonly Trajectory[][],
): void {
  const places = new Map(groups.map(({ groupId }, at) => [groupId, at]));
  requests.forEach(({ groupId, task, earlier = [] }, i) => {
    const made = rollouts[i] ?? [];
    const at = places.get(groupId);
    const known = at === undefined ? undefined : groups[at];
    if (at === undefined || known === undefined) {
      places.set(groupId, groups.length);
      groups.push({ groupId, task, trajectories: [...earlier, ...made] });
    } else groups[at] = { ...known, trajectories: [...known.trajectories, ...made] };
  });
}
