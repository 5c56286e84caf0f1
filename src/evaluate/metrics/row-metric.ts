import type { Part } from "../../base/registry.ts";
import type { EvaluationRow } from "../evaluation-row.ts";

/** A number that one row has, or has not; an evaluation reports its mean. */
export interface RowMetric<Name extends string = string> extends Part {
  readonly name: Name;
  /** What a column of it is called. */
  readonly label: string;
  readonly decimals: number;
  /** Whether tables of several metrics show it; the others stand in the lists of all metrics. */
  readonly headline: boolean;
  /** Smallest and largest value of a row. */
  readonly range: readonly [number, number];
  /** Whether every row has it. One that need not is left out of results where no row has it. */
  readonly always: boolean;
  /** Where it comes from; ours: made here. */
  readonly source: string;
  /** How its 95 % interval is made for one draw per question; null: none is. Of several draws it is a bootstrap. */
  readonly interval: "wilson" | "bootstrap" | null;
  /** null where it does not apply. Does not change the row. */
  of(row: EvaluationRow): number | null;
}

type Described<Name extends string> = Pick<RowMetric<Name>, "name" | "summary"> &
  Partial<Pick<RowMetric, "source" | "interval" | "range" | "label" | "decimals" | "headline">>;

/** A metric that every row has: a share (range 0 to 1) unless said otherwise. */
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

/** A share with three decimals, or an amount with two, called by its name. */
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
