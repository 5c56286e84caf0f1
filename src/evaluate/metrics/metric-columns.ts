/** How tables show metrics, from their registry. */
import { fixed, type NumberFormat } from "../../base/format.ts";
import { rowMetrics } from "./index.ts";

const metrics = new Map<string, (typeof rowMetrics.parts)[number]>(
  rowMetrics.parts.map((metric) => [metric.name, metric]),
);

/** Whether a metric is a share from 0 to 1; figures of several draws are (`pass@8`). */
export function isShare(name: string): boolean {
  const known = metrics.get(name);
  return known === undefined ? name.includes("@") : known.range[1] === 1;
}

/** A metric's name for people. @example metricLabel("cover_em") // "cover-EM" */
export function metricLabel(name: string): string {
  return metrics.get(name)?.label ?? name.replaceAll("_", " ");
}

/** Number format of a metric: shares with three decimals, amounts with the registry's. */
export function metricFormat(name: string): NumberFormat {
  return fixed(metrics.get(name)?.decimals ?? (isShare(name) ? 3 : 2));
}

/** A metric's value for a table; null where 0 searches would say that nobody searches, and the strategy does. */
export function shownValue(
  metrics: Readonly<Record<string, number | null | undefined>>,
  name: string,
): number | null {
  const value = metrics[name] ?? null;
  const isHidden = name === "searches" && value === 0 && (metrics["strategy_searches"] ?? 0) > 0;
  return isHidden ? null : value;
}

/** The metrics that every table of results shows: answers first, then searches and messages. */
export const headlineMetrics: readonly string[] = rowMetrics.parts
  .filter(({ headline }) => headline)
  .map(({ name }) => name);

/** Headline metrics of the answers themselves: those with charts of their own. */
export const answerHeadlines: readonly string[] = rowMetrics.parts
  .filter(({ headline, interval }) => headline && interval !== null)
  .map(({ name }) => name);
