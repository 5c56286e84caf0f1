import type { EvaluationRow } from "../evaluate/evaluation-row.ts";
import { rowMetrics } from "../evaluate/metrics/index.ts";
import type { ReportRow } from "./results-files.ts";

const metrics = new Map(rowMetrics.parts.map((metric) => [metric.name, metric]));

/** A row's value of a metric; null where it does not apply, was not measured, or nobody knows the metric. */
export function rowValue(row: ReportRow, metric: string): number | null {
  if (row.error !== undefined) return null;
  const told = row[metric];
  if (typeof told === "number") return told;
  try {
    return metrics.get(metric)?.of(row as unknown as EvaluationRow) ?? null;
  } catch (error) {
    // A row of an earlier version lacks what this metric reads.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** How many decimals a metric is shown with: shares of 0 to 1, or amounts. */
export function rangeOf(metric: string): "share" | "amount" {
  const known = metrics.get(metric);
  if (known !== undefined) return known.range[1] === 1 ? "share" : "amount";
  return metric.includes("@") ? "share" : "amount";
}
