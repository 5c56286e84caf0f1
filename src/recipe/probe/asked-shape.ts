import type { Task } from "../../trajectory/task.ts";
import type { LongestSequence } from "../plan/longest-sequence.ts";
import type { TrajectoryShape } from "./trajectory-shape.ts";

/** How long messages and observations of a policy are, in tokens: means of a probe. */
export interface MessageLengths {
  prompt: number;
  /** Messages that were answered by an observation. */
  search: number;
  answer: number;
  shown: number;
}

/**
 * @param shown tokens of an observation where no trajectory had one.
 */
export function messageLengths(
  shapes: readonly TrajectoryShape[],
  shown: number,
): MessageLengths | null {
  const answers = shapes.flatMap(({ calls }) => calls.slice(-1));
  const searches = shapes.flatMap(({ calls }) => calls.slice(0, -1));
  const observations = shapes.flatMap(({ calls }) => calls.slice(1));
  if (answers.length === 0) return null;
  const answer = meanOf(answers, ({ written }) => written) ?? 0;
  return {
    prompt: meanOf(shapes, ({ calls }) => calls[0]?.read ?? 0) ?? 0,
    search: meanOf(searches, ({ written }) => written) ?? answer,
    answer,
    shown: meanOf(observations, ({ read }) => read) ?? shown,
  };
}

/**
 * The trajectory that a question asks for: a search for each of its hops and then the answer, as far as budgets allow.
 * @returns null where the dataset does not tell how many hops it has.
 */
export function askedShape(
  { id, annotations }: Task,
  lengths: MessageLengths,
  longest: LongestSequence,
): TrajectoryShape | null {
  const hops = annotations.hops ?? annotations.supportingPassages?.length;
  return hops === undefined ? null : searchingShape(id, hops, lengths, longest);
}

/** So many searches and then the answer, as far as budgets allow. */
export function searchingShape(
  group: string,
  wanted: number,
  lengths: MessageLengths,
  longest: LongestSequence,
): TrajectoryShape {
  const { prompt, search, answer, shown } = lengths;
  const most = Math.max(0, (longest.messages.count ?? Infinity) - 1);
  const room = Math.floor((longest.tokens - prompt - answer) / Math.max(1, search + shown));
  const searches = Math.max(0, Math.min(wanted, most, room));
  const calls = Array.from({ length: searches }, (_, i) => {
    return { read: i === 0 ? prompt : shown, written: search, anew: i === 0 };
  });
  const last = { read: searches === 0 ? prompt : shown, written: answer, anew: searches === 0 };
  return { group, calls: [...calls, last].map(rounded) };
}

function rounded({ read, written, anew }: TrajectoryShape["calls"][number]) {
  return { read: Math.round(read), written: Math.max(1, Math.round(written)), anew };
}

function meanOf<T>(items: readonly T[], number: (item: T) => number): number | null {
  if (items.length === 0) return null;
  return items.reduce((sum, each) => sum + number(each), 0) / items.length;
}
