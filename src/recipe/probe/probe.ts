import { availableParallelism } from "node:os";
import { seedFrom } from "../../base/random.ts";
import type { Dataset } from "../../data/datasets.ts";
import type { LocalEngine } from "../../engine/local/local-engine.ts";
import type { Sampling } from "../../rollout/sampling.ts";
import { scoreTrajectories } from "../../rollout/score.ts";
import { type NamedStrategy, openStrategy } from "../../rollout/strategies/named-strategy.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import {
  environmentOver,
  openEngine,
  openNamedDataset,
  policyOf,
  retrieverOver,
  expressionOf,
  weightedRewards,
} from "../assemble.ts";
import type { PlannedRun } from "../plan/plan.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { type Clock, measureLongCache, measureSampling, timed } from "./engine-speed.ts";
import { measureTraining } from "./measure-training.ts";
import { measuredSampling, type SamplingSpeed, samplingSeconds } from "./sampling-cost.ts";
import { type TrainingSpeed } from "./training-cost.ts";
import {
  carriedOn,
  endedSoon,
  longestOf,
  notingPolicy,
  type TrajectoryShape,
} from "./trajectory-shape.ts";

/** What a short trial of a recipe on this machine found. */
export interface Probe {
  /** Seconds that it took, with opening. */
  seconds: number;
  /** Trajectories that it sampled, in training and in evaluation; 0 where a message alone would take too long. */
  sampled: { training: number; evaluation: number; unfinished: number };
  /** How they went; those of a training's questions, and of an evaluation's. */
  shapes: { training: TrajectoryShape[]; evaluation: TrajectoryShape[] };
  /** Questions of both, for what they ask for. */
  tasks: { training: Task[]; evaluation: Task[] };
  /** Questions that an evaluation asks. */
  questions: number;
  /** Whether rewards of one question's trajectories differed: else nothing is learned from. null: none ended. */
  learns: boolean | null;
  speed: { sampling: SamplingSpeed; training: TrainingSpeed };
  /** Seconds of what a run does once. */
  opening: { engine: number; training: number; evaluation: number };
  /** Seconds of a checkpoint. */
  saving: number;
}

/** Seconds for all but opening; a message or a micro-batch that is under way is waited for. */
const PROBE_SECONDS = 10;
/** Of that, for rollouts of training and of evaluation; learning gets its share even where these were slow. */
const SHARES = { training: 0.35, evaluation: 0.25, learning: 0.3 };

/** Trajectories for each slot: as many again wait, as in a long run. */
const WAVES = 2;

/** A machine whose processors are wanted by others as well gives the probe so much more time, at most. */
const MOST_PATIENCE = 3;

export interface ProbeOptions {
  /** Processors wanted by all programs here, a minute's mean. */
  load: number;
  /** Folder of the policy. */
  model: string;
  /** Whether its weights were drawn for the probe: how it behaves then says nothing, so no trajectory is sampled. */
  drawn: boolean;
  signal: AbortSignal;
  clock?: Clock;
  /** Where a checkpoint may be written for a moment. */
  scratch: string;
}

/**
 * Tries a recipe for some seconds: opens what it opens, measures the engine, samples the first questions as training and evaluation
 * would, and learns from what came. Nothing is kept.
 *
 * @throws what opening the engine, its data and its retriever throws.
 */
export async function probeRun(run: PlannedRun, options: ProbeOptions): Promise<Probe> {
  const begun = performance.now();
  const { settings } = run.resolved;
  const opened = { engine: 0, training: 0, evaluation: 0 };
  const { clock = () => performance.now() / 1000 } = options;
  const told = async <T>(part: keyof typeof opened, work: () => Promise<T>): Promise<T> => {
    let result: T | undefined;
    opened[part] += await timed(clock, async () => (result = await work()));
    return result as T;
  };
  const train = await told("training", () => openProbed(settings, "training"));
  const held = await told("evaluation", () => openProbed(settings, "evaluation"));
  const engine = await told("engine", () => openEngine(settings, options.model));
  try {
    const probing = { run, engine, options, clock };
    const found = await probeEngine(probing, train, held);
    return { ...found, opening: opened, seconds: (performance.now() - begun) / 1000 };
  } finally {
    await engine.close();
    await train.retriever.close();
    await held.retriever.close();
  }
}

type Probed = Awaited<ReturnType<typeof openProbed>>;

/** Questions, and what searches them. */
async function openProbed(settings: Settings, purpose: "training" | "evaluation") {
  const { dataset: named } = purpose === "training" ? settings : settings.evaluation;
  const dataset = await openNamedDataset(named, settings.environment);
  const tasks = await firstTasks(dataset);
  return { dataset, tasks, retriever: await retrieverOver(dataset, settings, purpose) };
}

async function firstTasks(dataset: Dataset): Promise<Task[]> {
  return dataset.tasks(1000);
}

interface Probing {
  run: PlannedRun;
  engine: LocalEngine;
  options: ProbeOptions;
  clock: Clock;
}

async function probeEngine(
  probing: Probing,
  train: Probed,
  held: Probed,
): Promise<Omit<Probe, "opening" | "seconds">> {
  const { run, engine, options, clock } = probing;
  const { settings } = run.resolved;
  const { slots } = settings.engine;
  const measured = {
    engine,
    workers: engine.workers,
    slots,
    vocabulary: engine.config.vocabSize,
    clock,
  };
  const sampling = await measureSampling(measured);
  const trainRollouts = await sampleSome(probing, sampling, train, "training");
  sampling.factor = factorOf(probing, sampling, trainRollouts);
  const evaluated = await sampleSome(probing, sampling, held, "evaluation");
  const longest = longestOf([...trainRollouts.shapes, ...evaluated.shapes]);
  await measureLongCache(measured, sampling, Math.max(longest, 1));
  const deadline = performance.now() + SHARES.learning * patienceAt(options.load);
  const training = await measureTraining(run, { engine, clock, deadline }, trainRollouts.shapes);
  const saving = await timed(clock, () => engine.save(options.scratch, { optimizer: true }));
  return {
    sampled: {
      training: trainRollouts.shapes.length,
      evaluation: evaluated.shapes.length,
      unfinished: trainRollouts.unfinished + evaluated.unfinished,
    },
    shapes: { training: trainRollouts.shapes, evaluation: evaluated.shapes },
    tasks: { training: train.tasks, evaluation: held.tasks },
    questions: await countOf(held.dataset),
    learns: learnsFrom(trainRollouts.finished),
    speed: { sampling, training },
    saving,
  };
}

interface SomeRollouts {
  shapes: TrajectoryShape[];
  /** As far as they came. */
  noted: TrajectoryShape[];
  finished: Trajectory[];
  unfinished: number;
  seconds: number;
}

const NONE: SomeRollouts = { shapes: [], noted: [], finished: [], unfinished: 0, seconds: 0 };

/** Samples the first questions, all at once as a run does, for a share of the time that is left. */
async function sampleSome(
  { run, engine, options, clock }: Probing,
  speed: SamplingSpeed,
  { tasks, retriever }: Probed,
  purpose: "training" | "evaluation",
): Promise<SomeRollouts> {
  const { settings } = run.resolved;
  const isTraining = purpose === "training";
  const patience = SHARES[purpose] * patienceAt(options.load);
  const { base, perPosition } = speed.step;
  const message = run.longest.messages.each * (base + perPosition * run.longest.tokens);
  if (options.drawn || message * 1000 > patience) return NONE;
  const { strategy, sampling } = isTraining ? settings : settings.evaluation;
  const environment = environmentOver(retriever, settings);
  const policy = await policyOf(engine, settings, options.model, environment);
  const noting = notingPolicy(policy);
  const stop = AbortSignal.any([options.signal, AbortSignal.timeout(Math.ceil(patience))]);
  const jobs = jobsOf(run, engine.workers, tasks, isTraining);
  const begun = clock();
  const ended = await Promise.allSettled(
    jobs.map(async ({ task, id }) => {
      const trajectory = await rollOut({ strategy, sampling, task, id, stop });
      return { trajectory, task };
    }),
  );
  options.signal.throwIfAborted();
  const seconds = clock() - begun;
  const finished = ended.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (isTraining) {
    const scoring = { expression: expressionOf(settings), retriever, signal: options.signal };
    await scoreTrajectories(finished, weightedRewards(settings), scoring);
  }
  const done = new Set(finished.map(({ trajectory }) => trajectory.id));
  const shapes = [...noting.noted].map(([id, shape]) =>
    done.has(id) ? shape : done.size > 0 ? endedSoon(shape) : carriedOn(shape, run.longest),
  );
  return {
    ...{ shapes, noted: [...noting.noted.values()], seconds },
    ...{ finished: finished.map(({ trajectory }) => trajectory) },
    unfinished: jobs.length - finished.length,
  };

  function rollOut(job: {
    strategy: NamedStrategy;
    sampling: Sampling;
    task: Task;
    id: string;
    stop: AbortSignal;
  }): Promise<Trajectory> {
    const { task, id } = job;
    return openStrategy(job.strategy, "strategy").run({
      ...{ policy: noting.policy, environment, task, id, sampling: job.sampling },
      ...{ signal: job.stop, groupId: task.id, purpose: isTraining ? "train" : "eval" },
      seed: seedFrom(settings.seed, "probe", purpose, id),
      ...(isTraining ? { progress: { step: 0, totalSteps: run.work.steps } } : {}),
    });
  }
}

/** Milliseconds. */
function patienceAt(load: number): number {
  return 1000 * PROBE_SECONDS * Math.min(MOST_PATIENCE, Math.max(1, load / availableParallelism()));
}

/** The first questions, each as often as a step or an evaluation draws it. */
function jobsOf(run: PlannedRun, workers: number, tasks: readonly Task[], isTraining: boolean) {
  const { settings } = run.resolved;
  const { prompts, groupSize } = run.work;
  const draws = isTraining ? groupSize : settings.evaluation.samplesPerTask;
  const most = WAVES * workers * settings.engine.slots;
  const asked = isTraining ? Math.min(prompts, Math.ceil(most / draws)) : Math.ceil(most / draws);
  return tasks
    .slice(0, asked)
    .flatMap((task) =>
      Array.from({ length: draws }, (_, g) => ({ task, id: `probe-${task.id}-${g}` })),
    );
}

/** What real rollouts took against what their parts were measured at. */
function factorOf(
  { run, engine }: Probing,
  speed: SamplingSpeed,
  { noted, seconds }: SomeRollouts,
): number {
  // Messages that were being written when time was up were waited for, and are among them.
  if (noted.length === 0) return 1;
  const { slots } = run.resolved.settings.engine;
  const setting = { workers: engine.workers, slots, window: Infinity };
  const expected = samplingSeconds(noted, speed, setting, measuredSampling());
  return Math.min(3, Math.max(0.5, seconds / expected));
}

/** Whether any question's trajectories have rewards that differ. */
function learnsFrom(finished: readonly Trajectory[]): boolean | null {
  if (finished.length === 0) return null;
  const first = new Map<string, number>();
  return finished.some(({ groupId, reward }) => {
    if (reward === null) return false;
    const known = first.get(groupId);
    first.set(groupId, known ?? reward);
    return known !== undefined && known !== reward;
  });
}

async function countOf(dataset: Dataset): Promise<number> {
  let count = 0;
  for await (const _ of dataset.stream()) count += 1;
  return count;
}
