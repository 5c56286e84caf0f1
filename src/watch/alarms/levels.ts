/** How alarms read a history: smoothed, and compared with the run's own earlier level where no fixed limit fits every run. */
import { z } from "../../base/schema.ts";
import type { MetricsLine } from "../metrics-line.ts";
import type { Finding } from "./alarm.ts";

export interface Point {
  step: number;
  value: number;
}

/** Options of every alarm that smooths. @param steps over which a value is averaged, so that one noisy step does not fire. */
export function smoothing(steps: number): { smooth: z.ZodDefault<z.ZodNumber> } {
  return { smooth: z.int().min(1).default(steps) };
}

/**
 * Options of every alarm that compares with the run itself. @param steps of the past from which it
 * takes the level.
 */
export function remembering(steps: number): { memory: z.ZodDefault<z.ZodNumber> } {
  return { memory: z.int().min(2).default(steps) };
}

/** Options of alarms on a fall from the highest level. @param share of it that is the limit by default. */
export function shareOfHighest(
  share: number,
): ReturnType<typeof smoothing> &
  ReturnType<typeof remembering> & { share: z.ZodDefault<z.ZodNumber> } {
  return {
    ...smoothing(5),
    ...remembering(200),
    /** Share of the highest level. */
    share: z.number().positive().lt(1).default(share),
  };
}

/** A metric over the lines that have it; empty if the newest line lacks a finite value. */
export function seriesOf(lines: readonly MetricsLine[], metric: string): Point[] {
  const series = lines.flatMap(({ step, metrics }) => {
    const value = metrics[metric];
    return Number.isFinite(value) ? [{ step, value: value as number }] : [];
  });
  return series.at(-1)?.step === lines.at(-1)?.step ? series : [];
}

/** Means over `width` neighbouring points, oldest first; empty if there are fewer. */
export function movingMeans(series: readonly Point[], width: number): number[] {
  const means: number[] = [];
  for (let start = 0; start + width <= series.length; start++) {
    let sum = 0;
    for (let i = start; i < start + width; i++) sum += series[i]?.value ?? NaN;
    means.push(sum / width);
  }
  return means;
}

interface Judged {
  metric: string;
  series: readonly Point[];
  smooth: number;
  limit: number;
  /** On which side of the limit the rule is broken. */
  broken: "above" | "below";
  /** What the limit is, in words: "3 times its lowest level, 0.02". */
  because?: string;
}

/** Fires where the newest mean is above a fixed limit. */
export function aboveLimit(
  lines: readonly MetricsLine[],
  metric: string,
  { smooth, limit }: { smooth: number; limit: number },
): Finding | null {
  return beyondLimit({ metric, series: seriesOf(lines, metric), smooth, limit, broken: "above" });
}

/**
 * Fires where the newest mean is below a share of the highest. @param options.least lowest highest
 * level that the alarm judges.
 */
export function fallen(
  lines: readonly MetricsLine[],
  metric: string,
  { smooth, share, least = -Infinity }: { smooth: number; share: number; least?: number },
): Finding | null {
  const series = seriesOf(lines, metric);
  const highest = Math.max(...movingMeans(series, smooth));
  if (highest < least) return null;
  const because = `${share} of its highest level, ${shortly(highest)}`;
  return beyondLimit({ metric, series, smooth, limit: share * highest, broken: "below", because });
}

/**
 * Fires where the newest mean is above several times the lowest. @param options.floor value that
 * the alarm always allows.
 */
export function risen(
  lines: readonly MetricsLine[],
  metric: string,
  { smooth, factor, floor = 0 }: { smooth: number; factor: number; floor?: number },
): Finding | null {
  const series = seriesOf(lines, metric);
  const lowest = Math.min(...movingMeans(series, smooth));
  const least = floor > 0 ? `, and no less than ${floor}` : "";
  const because = `${factor} times its lowest level, ${shortly(lowest)}${least}`;
  const limit = Math.max(floor, factor * lowest);
  return beyondLimit({ metric, series, smooth, limit, broken: "above", because });
}

/** Compares the newest mean with a limit; a value equal to it is within. */
export function beyondLimit({
  metric,
  series,
  smooth,
  limit,
  broken,
  because,
}: Judged): Finding | null {
  const isBroken = (value: number): boolean => (broken === "above" ? value > limit : value < limit);
  const value = movingMeans(series, smooth).at(-1);
  if (value === undefined || !isBroken(value)) return null;
  const lastGoodStep = lastGood(series, isBroken);
  const steps = series.slice(-smooth).map(({ step }) => step);
  const [first = 0] = steps;
  const over = smooth === 1 ? `at step ${first}` : `over steps ${first} to ${steps.at(-1) ?? 0}`;
  const allowed = `${broken === "above" ? "at most" : "at least"} ${shortly(limit)} is allowed`;
  const why = because === undefined ? "" : ` (${because})`;
  const message = `${metric} was ${shortly(value)} ${over}; ${allowed}${why}.`;
  return { metric, value, limit, lastGoodStep, message };
}

/** A number for people: three digits. */
export function shortly(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(3))) : String(value);
}

/** The step before the newest unbroken row of values beyond the limit. */
function lastGood(series: readonly Point[], isBroken: (value: number) => boolean): number {
  let at = series.length - 1;
  while (at > 0 && !isBroken(series[at]?.value ?? NaN)) at -= 1;
  while (at > 0 && isBroken(series[at - 1]?.value ?? NaN)) at -= 1;
  return Math.max(0, (series[at]?.step ?? 1) - 1);
}

/**
 * Whether nearly every trajectory gets the best reward of the run; a tenth of the rewards' range may be missing. Rewards that were
 * always equal do not count as solved: there may be a better one.
 */
export function isSolved(lines: readonly MetricsLine[], smooth: number): boolean {
  const now = movingMeans(seriesOf(lines, "rollout/reward_mean"), smooth).at(-1);
  const [lowest, highest] = rewardRange(lines);
  if (now === undefined || !(highest > lowest)) return false;
  return now >= highest - 0.1 * (highest - lowest);
}

/** The lowest and the highest reward of any trajectory in the lines. */
export function rewardRange(lines: readonly MetricsLine[]): [number, number] {
  const ends = (metric: string): number[] =>
    lines.flatMap(({ metrics }) => {
      const value = metrics[metric];
      return Number.isFinite(value) ? [value as number] : [];
    });
  const lowest = ends("rollout/reward_min").reduce((a, b) => Math.min(a, b), Infinity);
  const highest = ends("rollout/reward_max").reduce((a, b) => Math.max(a, b), -Infinity);
  return [lowest, highest];
}
