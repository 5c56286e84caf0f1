import { mean, sampleVariance } from "../base/statistics.ts";
import type { Interval } from "../evaluate/statistics.ts";
import { centralQuantile, twoSidedP } from "../evaluate/student-t.ts";

/** One arm's result of one seed. */
export interface SeededValue {
  seed: number;
  value: number;
}

/** Difference between an arm's mean and another's, or a number. */
export interface ArmComparison {
  /** Left mean minus right mean. */
  difference: number;
  /** 95 % interval of the difference; null with too few runs, or where they do not vary: they cannot show how sure they are. */
  ci95: Interval | null;
  /** Two-sided p of no difference; null likewise. */
  p: number | null;
  method: "paired-t" | "welch-t" | "one-sample-t";
}

/**
 * Compares an arm with another arm or with a number.
 *
 * Arms with the same seeds are compared seed by seed (paired t): the effect of the seed cancels. Other arms are compared by Welch's t,
 * which does not assume equal variances. A single run of an arm gives a difference without an interval.
 *
 * @param left at least one run, each seed once; `right` likewise.
 *
 * Source: Welch, Biometrika 34 (1947); degrees of freedom after Satterthwaite (1946).
 *
 * @example compareArms([{ seed: 1, value: 3 }, { seed: 2, value: 5 }], [{ seed: 1, value: 2 }, { seed: 2, value: 2 }])
 * // differences 1 and 3: difference 2, deviation √2, ci95 2 ± 12.706 · √2 / √2
 */
export function compareArms(
  left: readonly SeededValue[],
  right: readonly SeededValue[] | number,
): ArmComparison {
  const size = Math.max(...[...left, ...numbered(right)].map(({ value }) => Math.abs(value)));
  if (typeof right === "number") {
    const above = left.map(({ value }) => value - right);
    return { ...tTest(oneSample(above), size), method: "one-sample-t" };
  }
  const rightBySeed = new Map(right.map(({ seed, value }) => [seed, value]));
  const differences = left.flatMap(({ seed, value }) => {
    const other = rightBySeed.get(seed);
    return other === undefined ? [] : [value - other];
  });
  if (differences.length === left.length && left.length === right.length) {
    return { ...tTest(oneSample(differences), size), method: "paired-t" };
  }
  return { ...tTest(welch(valuesOf(left), valuesOf(right)), size), method: "welch-t" };
}

interface Sampled {
  difference: number;
  /** Standard error of the difference; NaN with too few values. */
  error: number;
  degrees: number;
}

function oneSample(differences: readonly number[]): Sampled {
  const error = Math.sqrt(sampleVariance(differences) / differences.length);
  return { difference: mean(differences), error, degrees: differences.length - 1 };
}

function welch(left: readonly number[], right: readonly number[]): Sampled {
  const a = sampleVariance(left) / left.length;
  const b = sampleVariance(right) / right.length;
  const degrees = (a + b) ** 2 / (a ** 2 / (left.length - 1) + b ** 2 / (right.length - 1));
  return { difference: mean(left) - mean(right), error: Math.sqrt(a + b), degrees };
}

/** Standard errors below this share of the values are what rounding leaves of equal ones. */
export const ROUNDING = 1e-12;

/** @param size of the largest value. */
function tTest(
  { difference, error, degrees }: Sampled,
  size: number,
): Omit<ArmComparison, "method"> {
  if (!(error > ROUNDING * size)) return { difference, ci95: null, p: null };
  const half = centralQuantile(0.95, degrees) * error;
  const p = twoSidedP(difference / error, degrees);
  return { difference, ci95: [difference - half, difference + half], p };
}

function numbered(right: readonly SeededValue[] | number): readonly Pick<SeededValue, "value">[] {
  return typeof right === "number" ? [{ value: right }] : right;
}

function valuesOf(runs: readonly SeededValue[]): number[] {
  return runs.map(({ value }) => value);
}
