/** How rules read a history: smoothed, and against the run's own earlier level where no number holds for every run. */
import { z } from "../../base/schema.ts";
import type { MetricsLine } from "../metrics-line.ts";
import type { Finding } from "./alarm.ts";

/** A metric at a step. */
export interface Point {
  step: number;
  value: number;
}

/** Options of every rule that smooths. @param steps over which a value is averaged, so that one noisy step does not ring. */
export function smoothing(steps: number): { smooth: z.ZodDefault<z.ZodNumber> } {
  return { smooth: z.int().min(1).default(steps) };
}

/** Options of every rule that compares with the run itself. @param steps of the past that the level is taken from. */
export function remembering(steps: number): { memory: z.ZodDefault<z.ZodNumber> } {
  return { memory: z.int().min(2).default(steps) };
}

/** A metric over the lines that have it; none where the newest line has not, or has no finite value. */
export function seriesOf(lines: readonly MetricsLine[], metric: string): Point[] {
  const series = lines.flatMap(({ step, metrics }) => {
    const value = metrics[metric];
    return Number.isFinite(value) ? [{ step, value: value as number }] : [];
  });
  return series.at(-1)?.step === lines.at(-1)?.step ? series : [];
}

/** Means over so many neighbouring points, oldest first; none where there are fewer. */
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

/** Holds the newest mean to a limit; a value equal to it is within. */
export function outside({
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
 * Whether nearly every trajectory gets the best reward that was seen: what then falls silent has done its work. A tenth of the
 * rewards' range may be missing. Rewards that were all equal throughout are no success: nobody knows whether there is a better one.
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
