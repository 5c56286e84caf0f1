import {
  holmAdjusted,
  pairedPermutationTest,
  type PermutationOptions,
  type PermutationResult,
} from "../permutation-test.ts";
import { type Interval, mean, pairedBootstrap } from "../statistics.ts";

/** One measure of two runs on the same questions. */
export interface PairedTest {
  left: number;
  right: number;
  /** Left minus right. */
  difference: number;
  /** 95 % bootstrap interval of the difference, questions resampled in pairs. */
  ci95: Interval;
  /** Two-sided p of the paired permutation test. */
  p: number;
  method: PermutationResult["method"];
}

/** A test among others. */
export interface Corrected {
  /** p after Holm's correction over all tests that were made together. */
  pHolm: number;
  /** By `pHolm` below .05. "no difference shown" does not say that the two are equal. */
  verdict: "higher" | "lower" | "no difference shown";
}

/** Chance of even one false alarm among the verdicts that are given together. */
const LEVEL = 0.05;

/**
 * @param left [n] one value per question; `right` likewise, in the same order.
 * @param options.draws permutations drawn where there are too many for all; 10 000 by default.
 */
export function testPairs(
  left: readonly number[],
  right: readonly number[],
  options: PermutationOptions,
): PairedTest {
  const differences = left.map((value, i) => value - (right[i] ?? Number.NaN));
  return {
    left: mean(left),
    right: mean(right),
    ...pairedBootstrap(left, right, { seed: options.seed }),
    ...pairedPermutationTest(differences, options),
  };
}

/** Holm's correction over tests that were made together, and the verdict that each then bears. */
export function corrected<T extends Pick<PairedTest, "difference" | "p">>(
  tests: readonly T[],
): (T & Corrected)[] {
  const adjusted = holmAdjusted(tests.map(({ p }) => p));
  return tests.map((test, i) => {
    const pHolm = adjusted[i] ?? 1;
    return { ...test, pHolm, verdict: verdictOf(test.difference, pHolm) };
  });
}

function verdictOf(difference: number, pHolm: number): Corrected["verdict"] {
  if (pHolm >= LEVEL) return "no difference shown";
  return difference > 0 ? "higher" : "lower";
}
