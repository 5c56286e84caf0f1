import type { MetricsLine } from "../../src/watch/metrics-line.ts";

/**
 * A run's lines from metrics by step, from step 1. All lists are as long as the longest; null where a step lacks the metric.
 * @example metricLines({ "rollout/searches": [2, 2, 1] })
 */
export function metricLines(
  series: Readonly<Record<string, readonly (number | null)[]>>,
): MetricsLine[] {
  const steps = Math.max(...Object.values(series).map(({ length }) => length));
  return Array.from({ length: steps }, (_, i) => {
    const present = Object.entries(series).flatMap(([name, values]) => {
      const value = values[i];
      return value === null || value === undefined ? [] : [[name, value] as const];
    });
    return { step: i + 1, metrics: Object.fromEntries(present) };
  });
}

/** So many times a value. */
export function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}
