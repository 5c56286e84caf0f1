import { mean, sampleVariance } from "../base/statistics.ts";
import type { Interval } from "./statistics.ts";
import { centralQuantile, twoSidedP } from "./student-t.ts";

/** One arm's result of one seed. */
export interface SeededValue {
  seed: number;
  value: number;
}

/** Difference between an arm's mean and another's, or a number. */
export interface ArmComparison {
  /** Left mean minus right mean. */
  difference: number;
  /** 95 % interval of the difference; null with too few runs. */
  ci95: Interval | null;
  /** Two-sided p of no difference; null likewise. */
  p: number | null;
  method: "paired-t" | "welch-t" | "one-sample-t";
}

/** The verdict of runs on a claim. */
export type Verdict = "supported" | "not supported" | "inconclusive";

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
  if (typeof right === "number") {
    const above = left.map(({ value }) => value - right);
    return { ...oneSample(above), method: "one-sample-t" };
  }
  const rightBySeed = new Map(right.map(({ seed, value }) => [seed, value]));
  const differences = left.flatMap(({ seed, value }) => {
    const other = rightBySeed.get(seed);
    return other === undefined ? [] : [value - other];
  });
  if (differences.length === left.length && left.length === right.length) {
    return { ...oneSample(differences), method: "paired-t" };
  }
  return welch(valuesOf(left), valuesOf(right));
}

/**
 * Verdict of a comparison on "left > right" (or ">="), by the 95 % interval of left − right:
 *
 * | | `>` | `>=` |
 * |---|---|---|
 * | supported | the whole interval is above 0 | none of it is below 0 |
 * | not supported | none of it is above 0 | the whole interval is below 0 |
 * | inconclusive | otherwise, or no interval | otherwise, or no interval |
 */
export function verdict({ ci95 }: Pick<ArmComparison, "ci95">, relation: ">" | ">="): Verdict {
  if (ci95 === null) return "inconclusive";
  const [low, high] = ci95;
  if (relation === ">" ? low > 0 : low >= 0) return "supported";
  return (relation === ">" ? high <= 0 : high < 0) ? "not supported" : "inconclusive";
}

/** Verdict of a claim with several comparisons: one "not supported" decides; "supported" needs all. */
export function combinedVerdict(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("not supported")) return "not supported";
  return verdicts.every((each) => each === "supported") ? "supported" : "inconclusive";
}

function oneSample(differences: readonly number[]): Omit<ArmComparison, "method"> {
  const error = Math.sqrt(sampleVariance(differences) / differences.length);
  return tTest(mean(differences), error, differences.length - 1);
}

function welch(left: readonly number[], right: readonly number[]): ArmComparison {
  const difference = mean(left) - mean(right);
  const a = sampleVariance(left) / left.length;
  const b = sampleVariance(right) / right.length;
  const degrees = (a + b) ** 2 / (a ** 2 / (left.length - 1) + b ** 2 / (right.length - 1));
  // Two arms without any variance have no degrees of freedom, and need none.
  const test = tTest(difference, Math.sqrt(a + b), a + b === 0 ? 1 : degrees);
  return { ...test, method: "welch-t" };
}

/** @param error standard error of the difference; NaN when there were too few values for one. */
function tTest(difference: number, error: number, degrees: number): Omit<ArmComparison, "method"> {
  if (Number.isNaN(error)) return { difference, ci95: null, p: null };
  if (error === 0) {
    return { difference, ci95: [difference, difference], p: difference === 0 ? 1 : 0 };
  }
  const half = centralQuantile(0.95, degrees) * error;
  const p = twoSidedP(difference / error, degrees);
  return { difference, ci95: [difference - half, difference + half], p };
}

function valuesOf(runs: readonly SeededValue[]): number[] {
  return runs.map(({ value }) => value);
}
