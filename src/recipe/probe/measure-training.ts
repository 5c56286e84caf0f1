import type { LocalEngine } from "../../engine/local/local-engine.ts";
import { lossFields } from "../../engine/local/training-graph.ts";
import { adamAt } from "../../train/optimizer-settings.ts";
import type { OnPolicyOptions } from "../../train/on-policy.ts";
import type { PlannedRun } from "../plan/plan.ts";
import { type Clock, timed } from "./engine-speed.ts";
import {
  type CompiledGraphs,
  rowOf,
  type TrainingSetting,
  type TrainingSpeed,
  updateWork,
  type UpdateWork,
} from "./training-cost.ts";
import {
  longestShape,
  type SequenceShape,
  sequencesOf,
  type TrajectoryShape,
} from "./trajectory-shape.ts";

/** How a planned run goes through its batches. */
export function trainingSetting(run: PlannedRun, workers: number): TrainingSetting {
  const { work, resolved, model } = run;
  return {
    ...{ config: model.config, workers },
    microBatchTokens: resolved.settings.engine.microBatchTokens,
    ...{ epochs: work.epochs, minibatches: work.minibatches, scoresAll: work.scoresAll },
    scorings: work.scorings,
  };
}

/** Whole parts of a step go to the probe only as far as they fit into its time. */
const PARTS = [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64];

/** What is learned with, and how long it may take. */
export interface TrainedEngine {
  engine: LocalEngine;
  clock: Clock;
  /** On the clock of `performance.now`. */
  deadline: number;
}

/**
 * Learns from sequences of such lengths, which says what a run's updates cost: once while graphs are compiled, and once again.
 */
export async function measureTraining(
  run: PlannedRun,
  trained: TrainedEngine,
  shapes: readonly TrajectoryShape[],
): Promise<TrainingSpeed> {
  const { engine, deadline } = trained;
  const setting = trainingSetting(run, engine.workers);
  const sequences =
    shapes.length > 0
      ? shapes.flatMap(sequencesOf)
      : Array.from({ length: engine.workers }, () => longestShape(run.longest, "")).flatMap(
          sequencesOf,
        );
  const learned = { ...setting, scorings: 0, epochs: 1, minibatches: 1 };
  const small = sequences.slice(0, engine.workers);
  const first = await learnTwice(run, trained, learned, small);
  // Cold and warm, forward and backward, and forward alone.
  const perUnit = 3 * (first.warm / Math.max(1, first.work.learned));
  const left = (deadline - performance.now()) / 1000;
  const share = PARTS.find((part) => {
    const some = sequences.slice(0, Math.ceil(part * sequences.length));
    return perUnit * workOf(some, learned).learned < left;
  });
  const fitting = sequences.slice(0, Math.ceil((share ?? 0) * sequences.length));
  const some = fitting.length > small.length ? fitting : small;
  const found = some === small ? first : await learnTwice(run, trained, learned, some);
  const learn = found.warm / Math.max(1, found.work.learned);
  const speed: TrainingSpeed = {
    ...{ learn, score: learn / 3 },
    compile: { learn: compileSeconds(found), score: compileSeconds(found) / 3 },
    optimizer: await optimizerSeconds(run, trained),
  };
  if (setting.scorings === 0) return speed;
  return { ...speed, ...(await measureScoring(trained, learned, some, speed)) };
}

interface Learned {
  cold: number;
  warm: number;
  work: UpdateWork;
}

function compileSeconds({ cold, warm, work }: Learned): number {
  return Math.max(0, cold - warm) / Math.max(1, work.compiled.learn);
}

async function learnTwice(
  run: PlannedRun,
  { engine, clock }: TrainedEngine,
  setting: TrainingSetting,
  sequences: readonly SequenceShape[],
): Promise<Learned> {
  const { loss } = run.work;
  const rows = sequences.map((each) => rowOf(each, setting.scoresAll, lossFields(loss)));
  const learn = (): Promise<number> => timed(clock, () => engine.forwardBackward(rows, loss));
  const cold = await learn();
  return { cold, warm: await learn(), work: workOf(sequences, setting) };
}

async function measureScoring(
  { engine, clock }: TrainedEngine,
  setting: TrainingSetting,
  sequences: readonly SequenceShape[],
  speed: TrainingSpeed,
): Promise<Partial<TrainingSpeed>> {
  const rows = sequences.map((each) => rowOf(each, setting.scoresAll));
  const cold = await timed(clock, () => engine.logprobs(rows));
  const warm = await timed(clock, () => engine.logprobs(rows));
  const work = workOf(sequences, { ...setting, scorings: 1 });
  const compile = Math.max(0, cold - warm) / Math.max(1, work.compiled.score);
  return {
    score: warm / Math.max(1, work.scored),
    compile: { ...speed.compile, score: compile },
  };
}

function workOf(sequences: readonly SequenceShape[], setting: TrainingSetting): UpdateWork {
  const graphs = Array.from({ length: setting.workers }, (): CompiledGraphs => new Map());
  return updateWork(sequences, setting, graphs);
}

async function optimizerSeconds(
  run: PlannedRun,
  { engine, clock }: TrainedEngine,
): Promise<number> {
  const adam = adamAt(optionsOf(run).optimizer, 0, 1);
  const first = await timed(clock, () => engine.optimStep(adam));
  return Math.min(first, await timed(clock, () => engine.optimStep(adam)));
}

function optionsOf(run: PlannedRun): OnPolicyOptions {
  return run.resolved.settings.algorithm as unknown as OnPolicyOptions;
}
