import { mean } from "../base/statistics.ts";
import type { EvaluationRow } from "../evaluate/evaluation-row.ts";
import { meanInterval } from "../evaluate/intervals.ts";
import { rowMetrics } from "../evaluate/metrics/index.ts";
import type { Interval } from "../evaluate/statistics.ts";
import type { ReportRow, ResultFiles } from "./results-files.ts";

/** Scores of all questions, or of those of one group. */
export interface GroupScores {
  /** "all", or the kind of group: "hops", "type". */
  kind: string;
  name: string;
  n: number;
  metrics: Record<string, number | null>;
  /** 95 % intervals by metric, for metrics with an interval in the results. */
  intervals: Record<string, Interval | null>;
}

/**
 * Scores of all questions and of each group. Missing intervals of groups are computed from the rows, by the method that the results name
 * for all questions.
 */
export async function scoreGroups(files: ResultFiles): Promise<GroupScores[]> {
  const { results } = files;
  const named = Object.keys(results.intervals);
  const groups = Object.entries(results.groups).flatMap(([kind, own]) =>
    Object.entries(own).map(([name, group]) => ({ kind, name, group })),
  );
  const missing = groups.some(({ group }) => group.intervals === undefined);
  const values = missing ? await valuesByGroup(files, named) : new Map<string, number[]>();
  return [
    { kind: "all", name: "all", ...pickScores(results, results.intervals) },
    ...groups.map(({ kind, name, group }): GroupScores => {
      const computed = named.map((metric): [string, Interval | null] => [
        metric,
        meanInterval(
          {
            values: values.get(groupKey(kind, name, metric)) ?? [],
            method: results.intervalMethods[metric] === "wilson" ? "wilson" : "bootstrap",
          },
          results,
        ),
      ]);
      return { kind, name, ...pickScores(group, group.intervals ?? Object.fromEntries(computed)) };
    }),
  ];
}

function pickScores(
  { n, metrics }: Pick<GroupScores, "n" | "metrics">,
  intervals: GroupScores["intervals"],
): Pick<GroupScores, "n" | "metrics" | "intervals"> {
  return { n, metrics, intervals };
}

/** Each question's mean over its draws, by group and metric; without unmeasured draws. */
async function valuesByGroup(
  files: ResultFiles,
  metrics: readonly string[],
): Promise<Map<string, number[]>> {
  const kinds = Object.keys(files.results.groups);
  const questions = new Map<string, Map<string, number[]>>();
  for await (const row of files.rows()) {
    for (const kind of kinds) {
      const name = groupName(kind, row);
      if (name === null) continue;
      for (const metric of metrics) {
        const value = rowValue(row, metric);
        if (value === null) continue;
        const key = groupKey(kind, name, metric);
        const byQuestion = questions.get(key) ?? new Map<string, number[]>();
        questions.set(key, byQuestion.set(row.id, [...(byQuestion.get(row.id) ?? []), value]));
      }
    }
  }
  return new Map(
    [...questions].map(([key, byQuestion]) => [key, [...byQuestion.values()].map(mean)]),
  );
}

/** The group of a row, as in results; null: none of this kind. */
function groupName(kind: string, row: ReportRow): string | null {
  const value = row[kind];
  if (kind === "hops") return typeof value === "number" ? `${value}-hop` : null;
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

function groupKey(kind: string, name: string, metric: string): string {
  return JSON.stringify([kind, name, metric]);
}

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
