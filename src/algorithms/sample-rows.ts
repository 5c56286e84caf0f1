import { DataError } from "../base/errors.ts";
import { random, seedFrom } from "../base/random.ts";
import type { TrainingRow } from "../engine/engine.ts";
import type { Sample } from "../trajectory/sample.ts";
import type { TokenRow, Trajectory } from "../trajectory/trajectory.ts";
import type { Drawer } from "./drawn-tokens.ts";
import { type HintUse, type Student, studentRows } from "./student-rows.ts";

/** What a token of a sample is to the loss: context, learned, or shown by the environment. */
const MARKS = { context: 0, learned: 1, shown: 2 } as const;

/** A sequence of a sample, in five bytes a token: samples stay in memory for all epochs. */
export interface SampleRow {
  ids: Int32Array;
  /** Of each token one of `MARKS`; the first never is anything but context. */
  marks: Uint8Array;
}

/** A sample as it is trained on. */
export interface LearnedSample {
  id: string;
  /** As its file gives it. */
  weight: number;
  /** Several where its prompts were built anew. */
  rows: SampleRow[];
  /** Learned tokens, at least 1. */
  learned: number;
  /** Positions that are computed, padding left out. */
  tokens: number;
}

/** What is made of samples, and for whom. */
export interface SampleReading {
  student: Student;
  hints: HintUse;
  /** Which messages are learned: those of a trajectory's main line, or those of every line (drafts, branches, modules) as well. */
  lines: "main" | "all";
  /** Share of the sequences before the last that are learned; 1 when absent. */
  earlierPrompts?: number | undefined;
  /** Longest sequence, in tokens that are read: the last one is only predicted. */
  maxTokens: number;
  /** The model that drew it, where its tokens or its template are not the student's. */
  drawnWith: Drawer | null;
}

/** Why a sample cannot be trained on: it does not fit, or holds nothing that the policy wrote. */
export type UnusableSample =
  { reason: "too-long"; tokens: number } | { reason: "nothing-to-learn" };

/**
 * The sequences of a sample with what of them is learned: the policy's words (and hints, where they are), each once though branches
 * share them; never a prompt, a template's marks or an end token that the policy did not write.
 *
 * @param where file and line, for messages.
 * @throws {DataError} as `studentRows`; DATA_BAD_RECORD when its trajectory is not one.
 */
export function readSample(
  sample: Sample,
  reading: SampleReading,
  where: string,
): LearnedSample | UnusableSample {
  const { student, hints, lines, earlierPrompts = 1, maxTokens, drawnWith } = reading;
  const { trajectory } = sample;
  const options = { hints, drawnWith, where };
  const learnable = lines === "all" ? null : mainCalls(trajectory);
  const all = markedRows(sequencesOf(trajectory, student, options), learnable);
  const draw = random(seedFrom(0, sample.id));
  const rows = all.filter((_, i) => draw.next() < earlierPrompts || i === all.length - 1);
  if (rows.length === 0) return { reason: "nothing-to-learn" };
  const longest = Math.max(...rows.map(({ ids }) => ids.length - 1));
  if (longest > maxTokens) return { reason: "too-long", tokens: longest };
  const learned = rows.reduce((sum, row) => sum + learnedCount(row), 0);
  const tokens = rows.reduce((sum, { ids }) => sum + ids.length - 1, 0);
  return { id: sample.id, weight: sample.weight, rows, learned, tokens };
}

/**
 * `studentRows` of a file's row, which is held to little of its shape: what fails here was changed by hand.
 * @throws {DataError} as `studentRows`; DATA_BAD_RECORD when the trajectory is not one.
 */
export function sequencesOf(
  trajectory: Trajectory,
  student: Student,
  options: Parameters<typeof studentRows>[2],
): TokenRow[] {
  try {
    return studentRows(trajectory, student, options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new DataError(
      "DATA_BAD_RECORD",
      `${options.where}: its trajectory lacks what one has (${error.message}). Mend or drop the line.`,
      { cause: error },
    );
  }
}

/** Calls of a trajectory's main line; all of one that has no turns. */
function mainCalls({ turns }: Trajectory): ReadonlySet<number> | null {
  if (turns.length === 0) return null;
  return new Set(turns.filter(({ chain }) => chain === undefined).map(({ call }) => call));
}

/** @param learnable calls whose messages are learned; null: all. */
function markedRows(rows: readonly TokenRow[], learnable: ReadonlySet<number> | null): SampleRow[] {
  const counted = new Set<number>();
  const marked = rows.map((row): SampleRow => {
    const own = new Set(row.calls.filter((call) => !counted.has(call)));
    own.forEach((call) => counted.add(call));
    const marks = row.owners.map((owner, i) => {
      const call = row.callOf[i] ?? 0;
      if (i === 0 || !own.has(call)) return MARKS.context;
      if (owner === "environment") return MARKS.shown;
      return owner === "policy" && (learnable?.has(call) ?? true) ? MARKS.learned : MARKS.context;
    });
    return { ids: Int32Array.from(row.ids), marks: Uint8Array.from(marks) };
  });
  return marked.filter((row) => learnedCount(row) > 0);
}

function learnedCount({ marks }: SampleRow): number {
  return marks.reduce((sum, mark) => sum + (mark === MARKS.learned ? 1 : 0), 0);
}

/** A sequence as an engine takes it. @param weights of a learned and of a shown token. */
export function trainingRow(
  { ids, marks }: SampleRow,
  weights: { learned: number; shown: number },
): TrainingRow {
  const of = [0, weights.learned, weights.shown];
  return {
    inputs: Array.from(ids.subarray(0, -1)),
    targets: Array.from(ids.subarray(1)),
    fields: { weights: Array.from(marks.subarray(1), (mark) => of[mark] ?? 0) },
  };
}

/** Sum of the log-probabilities of a sequence's learned tokens, nats. @param logprobs of its targets. */
export function learnedLogprob({ marks }: SampleRow, logprobs: Float32Array | undefined): number {
  let sum = 0;
  logprobs?.forEach((each, i) => (sum += marks[i + 1] === MARKS.learned ? each : 0));
  return sum;
}
