import { random } from "../../base/random.ts";
import type { HeldGraph } from "../../engine/local/forecast.ts";
import type { Task } from "../../trajectory/task.ts";
import type { PlannedRun } from "../plan/plan.ts";
import { askedShape, messageLengths, searchingShape } from "./asked-shape.ts";
import { trainingSetting } from "./measure-training.ts";
import type { Probe } from "./probe.ts";
import { freshSampling, samplingSeconds } from "./sampling-cost.ts";
import { type CompiledGraphs, updateSeconds, updateWork } from "./training-cost.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { longestOf, longestShape, sequencesOf, type TrajectoryShape } from "./trajectory-shape.ts";

/** Seconds of a whole run, by what takes them. */
export interface RunSeconds {
  opening: number;
  /** Before, after and on the way. */
  evaluations: number;
  rollouts: number;
  updates: number;
  checkpoints: number;
  total: number;
}

/** How long a run would take on this machine, from a probe of it. */
export interface TimeForecast {
  /** As most runs of such a recipe go: see `basis`. */
  expected: RunSeconds;
  /** Seconds, of the shorter and the longer of what was looked at, each with what a probe is off by. */
  range: { low: number; high: number };
  /** Seconds when every trajectory uses all that its budgets allow. */
  atMost: number;
  /** Tokens of the longest sequence that is expected: a policy that learns to search tries, now and then, all searches that it may make. */
  longest: number;
  /** Graphs of training that each worker holds at the end. */
  graphs: HeldGraph[][];
  /**
   * What trajectories are taken to be like. now: as the probe's, all along. learning: from there, within a tenth of the steps, to one
   * search for each hop of a question. budgets: as long as allowed, because nothing could be sampled.
   */
  basis: "now" | "learning" | "budgets";
}

/** By so much probe and run differ where trajectories are alike: measured, docs/planning.md. */
const UNCERTAINTY = 0.15;

/** Share of the steps after which a policy that learns does what its questions ask for, and how many that are at least. */
const LEARNING_SHARE = 0.1;
const LEARNING_STEPS = 3;

/** Steps that are gone through one by one; of more, the rest are like the last of these. */
const STEPS_LOOKED_AT = 40;

/** Beyond opening, sampling and learning: rows, files and metrics of a run, seconds. */
const OVERHEAD = 0.5;

/** What trajectories are drawn from, of a training's questions and of an evaluation's. */
interface Shapes {
  training: readonly TrajectoryShape[];
  evaluation: readonly TrajectoryShape[];
}

/** Forecasts the time of a run from a probe of it: its steps gone through one by one, at the speeds that were measured. */
export function forecastTime(run: PlannedRun, probe: Probe): TimeForecast {
  const budgets = [longestShape(run.longest, "")];
  const all = { training: budgets, evaluation: budgets };
  const now = presentOf(probe) ?? all;
  const asked = probe.learns === true ? askedOf(run, probe, now) : null;
  const later = asked ?? now;
  const steady = (shapes: Shapes): RunSeconds => walkRun(run, probe, () => shapes).seconds;
  const learned = Math.max(LEARNING_STEPS, LEARNING_SHARE * run.work.steps);
  const { seconds: expected, graphs } = walkRun(run, probe, (step) =>
    step < learned ? now : later,
  );
  const learns = asked !== null && learned < run.work.steps;
  const totals = [expected, steady(now), steady(later)].map(({ total }) => total);
  return {
    expected,
    range: {
      low: (1 - UNCERTAINTY) * Math.min(...totals),
      high: (1 + UNCERTAINTY) * Math.max(...totals),
    },
    atMost: steady(all).total,
    longest: longestOf([...now.training, ...now.evaluation, ...(learns ? tried(run, now) : [])]),
    graphs: graphs.map((each) => [...each.values()]),
    basis: now === all ? "budgets" : learns ? "learning" : "now",
  };
}

/** As the policy behaves in the probe; null where nothing was sampled. */
function presentOf({ shapes: { training, evaluation } }: Probe): Shapes | null {
  if (training.length === 0) return null;
  return { training, evaluation: evaluation.length > 0 ? evaluation : training };
}

/** As the questions ask it to; null where the dataset does not say, or the strategy does not search turn by turn. */
function askedOf(run: PlannedRun, probe: Probe, now: Shapes): Shapes | null {
  const { longest } = run;
  const lengths = messageLengths(now.training, longest.observations.each ?? 0);
  if (lengths === null || (longest.messages.count ?? Infinity) < 2) return null;
  const of = (tasks: readonly Task[]): TrajectoryShape[] =>
    tasks.flatMap((task) => askedShape(task, lengths, longest) ?? []);
  const training = of(probe.tasks.training);
  if (training.length < probe.tasks.training.length) return null;
  const evaluation = of(probe.tasks.evaluation);
  return { training, evaluation: evaluation.length > 0 ? evaluation : training };
}

/** Trajectories that search as often as they may, as the questions' are otherwise. */
function tried(run: PlannedRun, { training }: Shapes): TrajectoryShape[] {
  const lengths = messageLengths(training, run.longest.observations.each ?? 0);
  return lengths === null ? [] : [searchingShape("", Infinity, lengths, run.longest)];
}

/** @param of what trajectories are like before a step, from 0; after the last, at the number of steps. */
function walkRun(
  run: PlannedRun,
  probe: Probe,
  of: (step: number) => Shapes,
): { seconds: RunSeconds; graphs: readonly CompiledGraphs[] } {
  const { opening: once, saving } = probe;
  const { steps } = run.work;
  const walk = openWalk(run, probe);
  const evaluate = (step: number): number => once.evaluation + walk.evaluation(of(step));
  let evaluations = evaluate(0);
  let rollouts = 0;
  let updates = 0;
  const looked = Math.min(steps, STEPS_LOOKED_AT);
  for (let i = 0; i < looked; i++) {
    // Some steps stand for all; those before learning ends keep their share.
    const step = Math.floor((i * steps) / looked);
    const shapes = of(step).training;
    rollouts += (walk.rollout(shapes) * steps) / looked;
    // Graphs are compiled in the first steps, however many follow.
    const { warm, compiling } = walk.update(shapes);
    updates += (warm * steps) / looked + compiling;
  }
  const { between, saves } = onTheWay(run.resolved.settings, steps);
  evaluations += evaluate(steps) + between.count * walk.evaluation(of(steps), between.questions);
  const opening = once.engine + once.training + OVERHEAD;
  const checkpoints = saves * saving;
  const total = opening + evaluations + rollouts + updates + checkpoints;
  return {
    seconds: { opening, evaluations, rollouts, updates, checkpoints, total },
    graphs: walk.graphs,
  };
}

/** What a run does one after the other, each thing told in seconds. */
interface Walk {
  evaluation(shapes: Shapes, questions?: number): number;
  rollout(shapes: readonly TrajectoryShape[]): number;
  update(shapes: readonly TrajectoryShape[]): { warm: number; compiling: number };
  /** What each worker has compiled so far and still holds. */
  readonly graphs: readonly CompiledGraphs[];
}

function openWalk(run: PlannedRun, { speed, questions: all }: Probe): Walk {
  const { settings } = run.resolved;
  const { workers } = run.load;
  const setting = trainingSetting(run, workers);
  const stream = random("forecast");
  const state = freshSampling();
  const graphs = Array.from({ length: workers }, (): CompiledGraphs => new Map());
  const { prompts, groupSize } = run.work;
  const drawn = (from: readonly TrajectoryShape[], groups: number, size: number) =>
    Array.from({ length: groups * size }, (_, i) => {
      return { ...stream.pick(from), group: String(Math.floor(i / size)) };
    });
  const sampled = (shapes: readonly TrajectoryShape[], window: number): number =>
    samplingSeconds(
      shapes,
      speed.sampling,
      { workers, slots: settings.engine.slots, window },
      state,
    );
  let trajectories: TrajectoryShape[] = [];
  return {
    graphs,
    evaluation({ evaluation }, questions = all) {
      const { samplesPerTask } = settings.evaluation;
      const some = Math.min(questions, QUESTIONS_LOOKED_AT);
      const shapes = drawn(evaluation, some, samplesPerTask);
      return (sampled(shapes, EVALUATION_WINDOW) * questions) / Math.max(1, some);
    },
    rollout(shapes) {
      trajectories = drawn(shapes, prompts, groupSize);
      return sampled(trajectories, Infinity);
    },
    update() {
      const work = updateWork(trajectories.flatMap(sequencesOf), setting, graphs);
      const warm = updateSeconds({ ...work, compiled: { learn: 0, score: 0 } }, speed.training);
      return { warm, compiling: updateSeconds(work, speed.training) - warm };
    },
  };
}

/** Questions of an evaluation that are gone through one by one. */
const QUESTIONS_LOOKED_AT = 1000;

/** Trajectories of an evaluation under way together, as `evaluate` has it. */
const EVALUATION_WINDOW = 128;

/** Evaluations between the steps, and checkpoints. */
function onTheWay(settings: Settings, steps: number) {
  const { every, questions } = settings.evaluation.during ?? { every: Infinity, questions: 0 };
  const saves = Math.ceil(steps / settings.checkpoints.every);
  return { between: { count: Math.floor(steps / every), questions }, saves };
}
