import { bootstrapInterval, type Interval, wilsonInterval } from "../statistics.ts";
import { rowMetrics } from "./index.ts";
import type { QuestionValues } from "./metric-sums.ts";

/** em, f1 and cover_em always; others where they apply. */
export type IntervalValues<T> = Record<"em" | "f1" | "cover_em", T> & Record<string, T>;

/** The values of questions one by one, of the metrics that have an interval: eight bytes each. */
export interface MetricSeries {
  add(question: QuestionValues): void;
  /** @param options.singleDraws whether a question is one draw, so that shares are counts of successes. */
  intervals(options: { seed: number; singleDraws: boolean }): {
    intervals: IntervalValues<Interval>;
    intervalMethods: IntervalValues<"wilson" | "bootstrap">;
  };
}

export function openMetricSeries(): MetricSeries {
  const series = rowMetrics.parts.flatMap((metric, index) =>
    metric.interval === null ? [] : [{ metric, index, values: [] as number[] }],
  );
  return {
    add({ means }) {
      for (const { index, values } of series) {
        const value = means[index] ?? NaN;
        if (!Number.isNaN(value)) values.push(value);
      }
    },
    intervals({ seed, singleDraws }) {
      const intervals: Record<string, Interval> = {};
      const intervalMethods: Record<string, "wilson" | "bootstrap"> = {};
      for (const { metric, values } of series) {
        if (!metric.always && values.length === 0) continue;
        const isShare = metric.interval === "wilson" && singleDraws;
        intervalMethods[metric.name] = isShare ? "wilson" : "bootstrap";
        intervals[metric.name] = isShare
          ? wilsonInterval(values.filter((value) => value === 1).length, values.length)
          : bootstrapInterval(values, { seed });
      }
      return { intervals, intervalMethods } as ReturnType<MetricSeries["intervals"]>;
    },
  };
}
