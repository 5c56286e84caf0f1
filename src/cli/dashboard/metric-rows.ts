import { ABSENT, type NumberFormat } from "../../base/format.ts";
import { EXACT_MATCH, LIVE_METRICS } from "../../view/runs/panels.ts";
import { knownMean } from "../../view/sparkline.ts";
import type { StepPoint } from "./run-view.ts";

/** A metric's row. */
export interface MetricRow {
  label: string;
  /** Its meaning, for the help. */
  means: string;
  isShare?: true;
  value: string;
  /** With its sign; empty before the second step. */
  change: string;
  /** Whether the change is good or bad. */
  trend: "better" | "worse" | "neutral";
  /** One per step; NaN if a step lacks it. */
  values: readonly number[];
  metric: string;
}

/** Most steps on each side of a change. */
const COMPARED = 5;

/** The metrics that a run has. @param emMetric the run's own name of exact match. */
export function metricRows(history: readonly StepPoint[], emMetric: string): MetricRow[] {
  return LIVE_METRICS.flatMap(({ metrics: names, format, isGoal, label, means, isShare }) => {
    for (const name of names) {
      const metric = name === EXACT_MATCH ? emMetric : name;
      const values = history.map(({ metrics }) => metrics[metric] ?? NaN);
      const known = values.filter((value) => !Number.isNaN(value));
      const last = known.at(-1);
      if (last === undefined) continue;
      const change = changeOf(known);
      const text = change === null ? "" : withSign(change, format);
      const isMove = change !== null && isGoal === true && !text.startsWith("±");
      const trend = !isMove ? "neutral" : change > 0 ? "better" : "worse";
      return [{ label, means, isShare, metric, values, trend, value: format(last), change: text }];
    }
    return [];
  });
}

/** A step's metrics as cells of lines. @param labels of the live view. */
export function metricCells(
  metrics: Readonly<Record<string, number>>,
  labels: readonly string[],
  emMetric: string,
): string[] {
  const rows = metricRows([{ step: 0, metrics }], emMetric);
  return labels.map((label) => rows.find((row) => row.label === label)?.value ?? ABSENT);
}

/** Number of first and of last steps whose means a change compares. */
export function comparedSteps(steps: number): number {
  return Math.min(COMPARED, Math.floor(steps / 2));
}

/**
 * The mean of the last five values minus that of the first five; with fewer than ten values, of each half; null for one value.
 * @example changeOf([1, 2, 4]) // 3
 */
function changeOf(values: readonly number[]): number | null {
  const compared = comparedSteps(values.length);
  if (compared === 0) return null;
  return knownMean(values.slice(-compared)) - knownMean(values.slice(0, compared));
}

/** With its sign; a rounded 0 gets ±. @example withSign(-0.25, fixed(2)) // "−0.25" */
function withSign(value: number, format: NumberFormat): string {
  const text = format(Math.abs(value));
  return `${/[1-9]/.test(text) ? (value < 0 ? "−" : "+") : "±"}${text}`;
}
