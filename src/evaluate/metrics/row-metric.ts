import type { Part } from "../../base/registry.ts";
import type { EvaluationRow } from "../evaluation-row.ts";

/** A number of a row, or null; an evaluation reports its mean. */
export interface RowMetric<Name extends string = string> extends Part {
  readonly name: Name;
  readonly label: string;
  readonly decimals: number;
  /** Whether tables of several metrics show it; lists of all metrics show the others. */
  readonly headline: boolean;
  readonly range: readonly [number, number];
  /** Whether every row has it. Others are absent from results if no row has them. */
  readonly always: boolean;
  readonly source: string;
  readonly interval: "wilson" | "bootstrap" | null;
  /** null if it does not apply. Does not change the row. */
  of(row: EvaluationRow): number | null;
}

type Described<Name extends string> = Pick<RowMetric<Name>, "name" | "summary"> &
  Partial<Pick<RowMetric, "source" | "interval" | "range" | "label" | "decimals" | "headline">>;

/** A metric that every row has: a share (range 0 to 1) by default. */
export function rowMetric<const Name extends string>(
  metric: Described<Name> & { of: (row: EvaluationRow) => number },
): RowMetric<Name> & { always: true } {
  return { ...defaultsOf(metric), ...metric, always: true };
}

/** A metric that rows of some questions, policies or strategies have. */
export function sparseRowMetric<const Name extends string>(
  metric: Described<Name> & { of: (row: EvaluationRow) => number | null },
): RowMetric<Name> & { always: false } {
  return { ...defaultsOf(metric), ...metric, always: false };
}

function defaultsOf({
  name,
  range = [0, 1],
}: Described<string>): Pick<
  RowMetric,
  "range" | "source" | "interval" | "label" | "decimals" | "headline"
> {
  const label = name.replaceAll("_", " ");
  const decimals = range[1] === 1 ? 3 : 2;
  return { range, source: "ours", interval: null, label, decimals, headline: false };
}
