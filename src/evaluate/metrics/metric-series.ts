import { type FigureValues, type IntervalMethod, intervalsOf } from "../intervals.ts";
import type { Interval } from "../statistics.ts";
import { rowMetrics } from "./index.ts";
import type { QuestionValues } from "./metric-sums.ts";

/** em, f1 and cover_em always; others if they apply. */
export type IntervalValues<T> = Record<"em" | "f1" | "cover_em", T> & Record<string, T>;

/** The values of single questions, for metrics with an interval: eight bytes each. */
export interface MetricSeries {
  add(question: QuestionValues): void;
  /** @param options.singleDraws whether a question is one draw, so that shares are counts of successes. */
  intervals(options: { seed: number; singleDraws: boolean }): {
    intervals: IntervalValues<Interval>;
    intervalMethods: IntervalValues<IntervalMethod>;
  };
}

export function openMetricSeries(): MetricSeries {
  const series = rowMetrics.parts.flatMap((metric, index) =>
    metric.interval === null ? [] : [{ metric, index, values: [] as number[] }],
  );
  const own = new Map<string, number[]>();
  return {
    add({ means, own: measured }) {
      for (const { index, values } of series) {
        const value = means[index] ?? NaN;
        if (!Number.isNaN(value)) values.push(value);
      }
      for (const [name, value] of measured) {
        const values = own.get(name) ?? [];
        own.set(name, values);
        values.push(value);
      }
    },
    intervals({ seed, singleDraws }) {
      const figures = series
        .filter(({ metric, values }) => metric.always || values.length > 0)
        .map(({ metric, values }): FigureValues => {
          const isShare = metric.interval === "wilson" && singleDraws;
          return { name: metric.name, values, method: isShare ? "wilson" : "bootstrap" };
        });
      for (const [name, values] of own) figures.push({ name, values, method: "bootstrap" });
      return intervalsOf(figures, { seed }) as ReturnType<MetricSeries["intervals"]>;
    },
  };
}
