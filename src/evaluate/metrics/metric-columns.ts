/** How tables show metrics, from their registry. */
import { type NumberFormat, fixed } from "../../base/format.ts";
import { rewards } from "../../rewards/index.ts";
import { type FigureValues, type IntervalMethod, intervalsOf } from "../intervals.ts";
import type { Interval } from "../statistics.ts";
import { rowMetrics } from "./index.ts";
import type { QuestionValues } from "./metric-sums.ts";
import { metrics as ownMetrics } from "./own-metrics.ts";

const metrics = new Map<string, (typeof rowMetrics.parts)[number]>(
  rowMetrics.parts.map((metric) => [metric.name, metric]),
);

/** Whether a metric is a share from 0 to 1; figures of several draws are (`pass@8`). Rewards are not: they may pay several times. */
export function isShare(name: string): boolean {
  const known = metrics.get(name);
  if (known !== undefined) return known.range[1] === 1;
  return name.includes("@") || ownMetrics.loaded.some((own) => own.name === name && own.isShare);
}

/** A metric's name for people. @example metricLabel("cover_em") // "cover-EM" */
export function metricLabel(name: string): string {
  return metrics.get(name)?.label ?? name.replaceAll("_", " ");
}

/** Number format of a metric: shares with three decimals, amounts with the registry's. */
export function metricFormat(name: string): NumberFormat {
  return fixed(metrics.get(name)?.decimals ?? 3);
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

/** The measured metrics that tables show: answers, searches and messages, then the recipe's; without rewards that are headline metrics. */
export function shownMetrics(measured: Readonly<Record<string, unknown>>): string[] {
  return [...headlinesIn(measured, rowMetrics.parts), ...ownMeasures(measured)];
}

/** As `shownMetrics`, those with charts of their own: the answers' and the recipe's. */
export function chartedMetrics(measured: Readonly<Record<string, unknown>>): string[] {
  const answers = rowMetrics.parts.filter(({ interval }) => interval !== null);
  return [...headlinesIn(measured, answers), ...ownMeasures(measured)];
}

function headlinesIn(
  measured: Readonly<Record<string, unknown>>,
  parts: typeof rowMetrics.parts,
): string[] {
  const headlines = parts.filter(({ name, headline }) => headline && measured[name] != null);
  return headlines.map(({ name }) => name);
}

/** Rewards that are a metric by another name (their `metric`); a table is drawn without their modules. */
const REWARDS_OF_METRICS: readonly string[] = [
  "cover-em",
  "environment",
  "exact-match",
  "token-f1",
];

function ownMeasures(measured: Readonly<Record<string, unknown>>): string[] {
  const isOther = (name: string): boolean =>
    metrics.has(name) ||
    name.includes("@") ||
    REWARDS_OF_METRICS.includes(name) ||
    rewards.added.some((reward) => reward.name === name && reward.metric !== undefined);
  return Object.keys(measured).filter((name) => measured[name] != null && !isOther(name));
}

/** em, f1 and cover_em always; others if they apply. */
export type IntervalValues<T> = Record<"em" | "f1" | "cover_em", T> & Record<string, T>;

/** The values of single questions, for metrics with an interval: eight bytes each. */
export interface MetricSeries {
  add(question: QuestionValues): void;
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
