import { seedFrom } from "../base/random.ts";
import type { Environment } from "../env/environments/environment.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Sampling } from "../rollout/sampling.ts";
import { type NamedStrategy, openStrategy } from "../rollout/strategies/named-strategy.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { evaluationRow, type EvaluationRow } from "./evaluation-row.ts";
import { type EvaluationSummary, summarizeRows } from "./evaluation-summary.ts";

export interface EvaluatePolicyOptions {
  policy: Policy;
  environment: Environment;
  /** At least one; ids differ. */
  tasks: readonly Task[];
  /** An inference strategy, with its options or by its name alone. */
  strategy: NamedStrategy;
  sampling: Sampling;
  seed: number;
  /** Draws per question; above 1, sample with a temperature. */
  samplesPerTask?: number;
  signal: AbortSignal;
  /** A row measured earlier, which is taken as it is. */
  known?: (task: Task, sample: number) => EvaluationRow | undefined;
  /** Called as draws end, in no particular order. `em` is the mean so far. */
  onProgress?: (progress: { done: number; total: number; em: number }) => void;
  /** Called for each new row, in the order of tasks and draws, as soon as those before it are done. */
  onRow?: (row: EvaluationRow, trajectory: Trajectory) => Promise<void>;
}

/** What an evaluation found, with the rows that it was computed from. */
export interface Evaluation extends EvaluationSummary {
  rows: EvaluationRow[];
}

/** Rollouts under way together: twice what an engine of two workers decodes at once, so that none of its places is idle. */
const WINDOW = 128;

/**
 * Answers every question, scores the answers and sums up.
 *
 * What each question gives depends on the seed, its id and the number of the draw, not on the other questions.
 *
 * @throws {ConfigError} PART_UNKNOWN when there is no such strategy.
 * @throws the signal's reason when it aborts, after the messages under way: an engine can then be closed. Rows handed to
 *   `onRow` before are whole.
 */
export async function evaluatePolicy(options: EvaluatePolicyOptions): Promise<Evaluation> {
  const { tasks, samplesPerTask = 1, known, signal, onRow, onProgress, seed } = options;
  const draws = tasks.flatMap((task) =>
    Array.from({ length: samplesPerTask }, (_, sample) => ({ task, sample })),
  );
  const halt = new AbortController();
  let done = 0;
  let right = 0;
  const answer = async ({ task, sample }: Draw): Promise<Answered> => {
    const earlier = known?.(task, sample);
    const answered =
      earlier === undefined
        ? await answerOnce({ ...options, signal: halt.signal }, task, sample)
        : { row: earlier };
    done += 1;
    right += answered.row.em;
    onProgress?.({ done, total: draws.length, em: right / done });
    return answered;
  };
  const rows: EvaluationRow[] = [];
  await inOrder(draws, answer, {
    signal,
    halt,
    take: async ({ row, trajectory }) => {
      rows.push(row);
      if (trajectory !== undefined) await onRow?.(row, trajectory);
    },
  });
  return { ...summarizeRows(rows, { seed }), rows };
}

interface Draw {
  task: Task;
  sample: number;
}

interface Answered {
  row: EvaluationRow;
  /** Absent when the row is from an earlier run. */
  trajectory?: Trajectory;
}

async function answerOnce(
  options: EvaluatePolicyOptions,
  task: Task,
  sample: number,
): Promise<Answered> {
  const { policy, environment, sampling, signal } = options;
  const trajectory = await openStrategy(options.strategy, "strategy").run({
    ...{ policy, environment, task, sampling, signal },
    id: `${task.id}/${sample}`,
    groupId: task.id,
    purpose: "eval",
    seed: seedFrom(options.seed, "eval", task.id, sample),
  });
  return { row: evaluationRow(task, sample, trajectory), trajectory };
}

/**
 * Works on a window of items at a time and hands over the results in the items' order. When it ends early, by the signal or a
 * failure, it halts what is under way and waits for it.
 */
async function inOrder<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  ending: { signal: AbortSignal; halt: AbortController; take: (result: R) => Promise<void> },
): Promise<void> {
  const { signal, halt, take } = ending;
  signal.throwIfAborted();
  const stop = (): void => {
    halt.abort(signal.reason);
  };
  signal.addEventListener("abort", stop);
  const underWay: Promise<R>[] = [];
  let next = 0;
  const fill = (): void => {
    for (const item of items.slice(next, next + WINDOW - underWay.length)) {
      const result = work(item);
      // Told of when its turn comes, or dropped with the rest.
      result.catch(() => undefined);
      underWay.push(result);
      next += 1;
    }
  };
  try {
    fill();
    for (let first = underWay.shift(); first !== undefined; first = underWay.shift()) {
      const result = await first;
      signal.throwIfAborted();
      fill();
      await take(result);
    }
  } catch (error) {
    halt.abort(error);
    await Promise.allSettled(underWay);
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
