import { mean } from "../../base/statistics.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { ScoringTime } from "./facts.ts";

/** A trajectory with the value of every reward by name; null: it could not be scored. */
export interface LeafValues {
  trajectory: Trajectory;
  values: Pick<ReadonlyMap<string, number | null>, "get">;
}

/** What an expression is evaluated in. */
export interface Evaluating {
  /** Trajectories without an error. */
  batch: readonly LeafValues[];
  time: ScoringTime;
  /** Figures over groups and the batch that are known already, by term and then by group. */
  figures: Map<Term, Map<string, number | null>>;
}

/** true is 1, false is 0; null is unknown. */
export type Value = number | string | null;

/** A part of an expression, checked. */
export interface Term {
  type: "number" | "text";
  /** The reward that it is, where it is nothing but its name. */
  leaf?: string;
  of(row: LeafValues, setting: Evaluating): Value;
}

interface ExpressionFunction {
  /** For lists and documentation. */
  summary: string;
  /** Fewest and most arguments. */
  takes: readonly [fewest: number, most: number];
  of: (given: readonly Term[], row: LeafValues, setting: Evaluating) => number | null;
}

export const FUNCTIONS: Readonly<Record<string, ExpressionFunction>> = {
  min: {
    summary: "the smallest of its arguments",
    takes: [1, Infinity],
    of: (given, row, setting) => ofAll(given, row, setting, (values) => Math.min(...values)),
  },
  max: {
    summary: "the largest of its arguments",
    takes: [1, Infinity],
    of: (given, row, setting) => ofAll(given, row, setting, (values) => Math.max(...values)),
  },
  if: {
    summary: "if(condition, value, …, otherwise): the value after the first condition that holds",
    takes: [3, Infinity],
    of: firstThatHolds,
  },
  known: {
    summary: "whether it could be scored",
    takes: [1, 1],
    of: ([of], row, setting) => Number(of !== undefined && of.of(row, setting) !== null),
  },
  group_mean: {
    summary: "its mean over the scored trajectories of the group",
    takes: [1, 1],
    of: ([of], row, setting) => figure(of, row.trajectory.groupId, setting, mean),
  },
  group_max: {
    summary: "its largest value in the group",
    takes: [1, 1],
    of: ([of], row, setting) =>
      figure(of, row.trajectory.groupId, setting, (values) => Math.max(...values)),
  },
  batch_mean: {
    summary: "its mean over the scored trajectories of the batch",
    takes: [1, 1],
    of: ([of], _, setting) => figure(of, null, setting, mean),
  },
  last_mean: {
    summary: "the mean of a reward over the batch of the step before; unknown at the first step",
    takes: [1, 1],
    of: ([of], _, { time }) => (of?.leaf === undefined ? null : time.history.mean(of.leaf, 1)),
  },
};

/** A term's value as a number; null where it is unknown. The check has made sure that it is no text. */
export function numberOf(term: Term, row: LeafValues, setting: Evaluating): number | null {
  const value = term.of(row, setting);
  return typeof value === "number" ? value : null;
}

function ofAll(
  given: readonly Term[],
  row: LeafValues,
  setting: Evaluating,
  take: (values: readonly number[]) => number,
): number | null {
  const known = given.flatMap((each) => numberOf(each, row, setting) ?? []);
  return known.length < given.length ? null : take(known);
}

/** Values after the one that is taken are not looked at. */
function firstThatHolds(
  [condition, value, ...others]: readonly Term[],
  row: LeafValues,
  setting: Evaluating,
): number | null {
  if (condition === undefined) return null;
  const holds = numberOf(condition, row, setting);
  // The last argument stands alone: it is the value for when nothing holds.
  if (value === undefined || holds === null) return holds;
  return holds === 0 ? firstThatHolds(others, row, setting) : numberOf(value, row, setting);
}

/** A figure over the trajectories of a group, or of the batch, whose value is known; null where there is none. */
function figure(
  of: Term | undefined,
  groupId: string | null,
  setting: Evaluating,
  take: (values: readonly number[]) => number,
): number | null {
  if (of === undefined) return null;
  const byGroup = setting.figures.get(of) ?? new Map<string, number | null>();
  setting.figures.set(of, byGroup);
  const key = groupId ?? "";
  const earlier = byGroup.get(key);
  if (earlier !== undefined) return earlier;
  const values = setting.batch
    .filter(({ trajectory }) => groupId === null || trajectory.groupId === groupId)
    .flatMap((each) => numberOf(of, each, setting) ?? []);
  const value = values.length === 0 ? null : take(values);
  byGroup.set(key, value);
  return value;
}
