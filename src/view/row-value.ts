import type { EvaluationRow } from "../evaluate/evaluation-row.ts";
import { rowMetrics } from "../evaluate/metrics/index.ts";
import type { ReportRow } from "./results-files.ts";

const metrics = new Map(rowMetrics.parts.map((metric) => [metric.name, metric]));

/** A row's value of a metric; null if it does not apply, was not measured, or the metric is unknown. */
export function rowValue(row: ReportRow, metric: string): number | null {
  if (row.error !== undefined) return null;
  const told = row[metric];
  if (typeof told === "number") return told;
  const own = (row as Partial<EvaluationRow>).metrics?.[metric];
  if (own !== undefined) return own;
  try {
    return metrics.get(metric)?.of(row as unknown as EvaluationRow) ?? null;
  } catch (error) {
    // A row of an earlier version lacks a field of this metric.
    if (error instanceof TypeError) return null;
    throw error;
  }
}
