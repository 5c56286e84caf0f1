import { ScoreError } from "../base/errors.ts";
import { inOrder, openFailureStreak } from "../base/in-order.ts";
import { seedFrom } from "../base/random.ts";
import type { Environment } from "../env/environments/environment.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Sampling } from "../rollout/sampling.ts";
import { type NamedStrategy, loadStrategy } from "../rollout/strategies/named-strategy.ts";
import type { Roles } from "../trajectory/role.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { evaluationRow, type EvaluationRow } from "./evaluation-row.ts";
import { type EvaluationSummary, openSummary } from "./evaluation-summary.ts";
import type { DrawsOfQuestion } from "./measures.ts";
import type { MeasuredDraw } from "./metrics/metric.ts";

/** Answers a question once. */
export type Answerer = (task: Task, sample: number, signal: AbortSignal) => Promise<Trajectory>;

/** Settings of an evaluation, for any answerer. */
export interface EvaluationRun {
  tasks: Iterable<Task> | AsyncIterable<Task>;
  /** Draws per question; above 1, sample with a temperature. */
  samplesPerTask?: number;
  seed: number;
  signal: AbortSignal;
  measure?: (draw: MeasuredDraw, signal: AbortSignal) => Promise<Record<string, number>>;
  /** Measures a question's draws together, without those that failed; their rows are then written at once. */
  measureDraws?: ((draws: DrawsOfQuestion) => Record<string, number>) | undefined;
  /** Returns a row measured earlier, which is kept. Called for every draw, in order. */
  known?: (task: Task, sample: number) => EvaluationRow | undefined;
  onProgress?: (progress: EvaluationProgress) => void;
  /** Called for each new row, in the order of tasks and draws, as soon as all earlier ones are done. */
  onRow?: (row: EvaluationRow, trajectory: Trajectory) => Promise<void>;
  /** Concurrent rollouts; default 128: twice the number that an engine with two workers decodes at once. */
  window?: number;
}

export interface EvaluationProgress {
  done: number;
  failed: number;
  em: number;
  error?: NonNullable<EvaluationRow["error"]>;
}

const DEFAULT_WINDOW = 128;

/**
 * Answers every question, scores the answers and computes the summary; memory holds unfinished draws.
 * @throws {ScoreError} EVALUATION_GIVEN_UP when 24 rollouts in a row fail. @throws the signal's reason, after the current messages.
 */
export async function evaluate(
  answer: Answerer,
  { tasks, samplesPerTask = 1, seed, signal, known, ...run }: EvaluationRun,
): Promise<EvaluationSummary> {
  const halt = new AbortController();
  const summary = openSummary({ seed });
  const tally = openTally(run.onProgress);
  const together = openTogether(samplesPerTask, run.measureDraws);
  const work = async ({ task, sample, earlier }: Draw): Promise<Answered> => {
    if (earlier !== undefined) {
      tally.add(earlier);
      return { task, row: earlier };
    }
    const trajectory = await answer(task, sample, halt.signal);
    const row = evaluationRow(task, sample, trajectory);
    if (run.measure !== undefined && row.error === undefined)
      row.metrics = await run.measure({ task, trajectory, row }, halt.signal);
    tally.add(row);
    return { task, row, trajectory };
  };
  await inOrder(drawsOf(tasks, samplesPerTask, known), work, {
    signal,
    halt,
    window: run.window ?? DEFAULT_WINDOW,
    take: async (answered) => {
      const done = together(answered);
      for (const { row } of done) summary.add(row);
      await Promise.all(
        done.map(async ({ row, trajectory }) => {
          if (trajectory !== undefined) await run.onRow?.(row, trajectory);
        }),
      );
    },
  });
  return summary.summary();
}

type Draw = { task: Task; sample: number; earlier: EvaluationRow | undefined };

interface Answered {
  task: Task;
  row: EvaluationRow;
  /** Absent if the row is from an earlier run. */
  trajectory?: Trajectory;
}

/** Holds the draws of a question until all are there, if something measures them together. @returns the draws that are finished. */
function openTogether(
  samplesPerTask: number,
  measure: EvaluationRun["measureDraws"],
): (answered: Answered) => Answered[] {
  if (measure === undefined) return (answered) => [answered];
  let held: Answered[] = [];
  return (answered) => {
    held.push(answered);
    if (answered.row.sample + 1 < samplesPerTask) return [];
    const done = held;
    held = [];
    const measured = done.filter(({ row }) => row.error === undefined);
    const values = measure(measured);
    for (const { row, trajectory } of measured)
      if (trajectory !== undefined) row.metrics = { ...row.metrics, ...values };
    return done;
  };
}

async function* drawsOf(
  tasks: EvaluationRun["tasks"],
  samplesPerTask: number,
  known: EvaluationRun["known"],
): AsyncGenerator<Draw> {
  for await (const task of tasks) {
    for (let sample = 0; sample < samplesPerTask; sample++)
      yield { task, sample, earlier: known?.(task, sample) };
  }
}

function openTally(onProgress: EvaluationRun["onProgress"]): { add(row: EvaluationRow): void } {
  let done = 0;
  let failed = 0;
  const streak = openFailureStreak();
  let right = 0;
  return {
    add({ em, error }) {
      done += 1;
      right += error === undefined ? em : 0;
      failed += error === undefined ? 0 : 1;
      const inARow = streak.add(error !== undefined);
      const progress = { done, failed, em: right / Math.max(1, done - failed) };
      onProgress?.({ ...progress, error });
      if (error === undefined || inARow === null) return;
      const problem = `${inARow} rollouts in a row failed (${done - failed} were measured before); the last: ${error.code}: ${error.message} With --out you can continue by --resume once it works again.`;
      throw new ScoreError("EVALUATION_GIVEN_UP", problem);
    },
  };
}

export interface EvaluatePolicyOptions extends EvaluationRun {
  policy: Policy;
  environment: Environment;
  strategy: NamedStrategy;
  sampling: Sampling;
  roles?: Roles;
  /** Clock, milliseconds; without it trajectories have no timings. */
  clock?: () => number;
}

/**
 * Evaluates a policy in an environment. A result depends on the seed, the question's id and the draw's number alone.
 * @throws {ConfigError} PART_UNKNOWN when there is no such strategy. @throws as `evaluate`.
 */
export async function evaluatePolicy(options: EvaluatePolicyOptions): Promise<EvaluationSummary> {
  const { policy, environment, strategy: named, sampling, roles, clock, ...run } = options;
  const strategy = await loadStrategy(named, "strategy");
  return evaluate(
    (task, sample, signal) =>
      strategy.run({
        policy,
        environment,
        task,
        sampling,
        signal,
        id: `${task.id}/${sample}`,
        groupId: task.id,
        purpose: "eval",
        seed: seedFrom(run.seed, "eval", task.id, sample),
        roles,
        clock,
      }),
    run,
  );
}
