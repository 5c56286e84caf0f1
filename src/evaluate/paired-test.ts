import { random } from "../base/random.ts";
import { mean } from "../base/statistics.ts";
import { type Interval, pairedBootstrap } from "./statistics.ts";

/** One measure of two runs on the same questions. */
export interface PairedTest {
  left: number;
  right: number;
  difference: number;
  /** 95 % bootstrap interval of the difference, questions resampled in pairs. */
  ci95: Interval;
  /** Two-sided p of the paired permutation test. */
  p: number;
  method: PermutationResult["method"];
}

/** A test among others. */
export interface Corrected {
  /** p after Holm's correction over all tests of the comparison. */
  pHolm: number;
  /** By `pHolm` below .05. "no difference shown" does not mean that the two are equal. */
  verdict: "higher" | "lower" | "no difference shown";
}

/** Family-wise error rate of the verdicts. */
const LEVEL = 0.05;

/** @param left [n] one value per question; `right` likewise. @param options.draws sampled permutations if too many for all; default 10 000. */
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

/** Holm's correction over the tests of a comparison, with a verdict for each. */
export function corrected<T extends Pick<PairedTest, "difference" | "p">>(
  tests: readonly T[],
): (T & Corrected)[] {
  const adjusted = holmAdjusted(tests.map(({ p }) => p));
  return tests.map((test, i) => {
    const pHolm = adjusted[i] ?? 1;
    return { ...test, pHolm, verdict: verdictOf(test.difference, pHolm) };
  });
}

/** A sentence where some interval and its corrected p disagree about a difference; else none. */
export function disagreementNotes(
  tests: readonly { ci95: readonly [number, number]; p: number }[],
): string[] {
  const disagree = tests.some(({ ci95: [low, high], p }) => (low > 0 || high < 0) !== p < LEVEL);
  return disagree ? [DISAGREEMENT] : [];
}

const DISAGREEMENT =
  "Interval and p can disagree: the interval is not corrected for the number of tests, p is; and with few questions bootstrap and permutation test differ. The verdict follows p.";

function verdictOf(difference: number, pHolm: number): Corrected["verdict"] {
  if (pHolm >= LEVEL) return "no difference shown";
  return difference > 0 ? "higher" : "lower";
}

interface PermutationOptions {
  seed: number;
  /** Sampled sign patterns if there are too many for all; default 10 000, so that p is at least 1 / 10 001. */
  draws?: number;
}

interface PermutationResult {
  /** Two-sided probability of a mean difference at least this far from 0, if the two sides of each pair were exchangeable. */
  p: number;
  /** exact: all sign patterns; drawn: a seeded sample of them. */
  method: "exact" | "drawn";
}

/** Most differing pairs for which all 2ⁿ sign patterns are tested: a million additions. */
const EXACT_PAIRS = 20;

/** Sums this close, relative to the sum of all differences, are ties: equal except for rounding. */
const TIE = 1e-9;

/**
 * Paired permutation (sign-flip) test: the distribution of the mean difference if the sides of each pair are swapped at random. Pairs without
 * a difference are left out; if all are 0, p is 1. Source: Fisher (1935); for retrieval Smucker, Allan and Carterette (CIKM 2007). A sampled
 * p counts the observed pattern, (1 + b) / (1 + draws), so that it is never 0 (Phipson and Smyth, 2010).
 * @example pairedPermutationTest([1, 2, 3], { seed: 1 }) // 2 of 8 patterns reach a sum of ±6: p .25, exact
 */
export function pairedPermutationTest(
  differences: readonly number[],
  { seed, draws = 10_000 }: PermutationOptions,
): PermutationResult {
  const moving = Float64Array.from(differences.filter((value) => value !== 0));
  const tie = TIE * moving.reduce((sum, value) => sum + Math.abs(value), 0);
  const bound = Math.abs(moving.reduce((sum, value) => sum + value, 0)) - tie;
  if (moving.length <= EXACT_PAIRS)
    return { p: countAll(moving, bound) / 2 ** moving.length, method: "exact" };
  return { p: (1 + countDrawn(moving, bound, { seed, draws })) / (1 + draws), method: "drawn" };
}

/**
 * Holm's (1979) adjustment of several tests' p values: the i-th smallest of m, from 0, times m − i, none below a smaller one's, at most 1.
 * @example holmAdjusted([0.01, 0.04, 0.03]) // [0.03, 0.06, 0.06]
 */
export function holmAdjusted(ps: readonly number[]): number[] {
  const order = ps.map((p, i) => ({ p, i })).sort((a, b) => a.p - b.p);
  const adjusted = ps.map(() => 1);
  let floor = 0;
  for (const [rank, { p, i }] of order.entries()) {
    floor = Math.min(1, Math.max(floor, p * (ps.length - rank)));
    adjusted[i] = floor;
  }
  return adjusted;
}

/** Number of all sign patterns that reach the bound; each differs from the one before it in one sign (Gray code). */
function countAll(values: Float64Array, bound: number): number {
  const signed = Float64Array.from(values);
  let sum = signed.reduce((total, value) => total + value, 0);
  let count = Math.abs(sum) >= bound ? 1 : 0;
  for (let pattern = 1; pattern < 2 ** values.length; pattern++) {
    const flipped = 31 - Math.clz32(pattern & -pattern);
    const value = signed[flipped] ?? 0;
    sum -= 2 * value;
    signed[flipped] = -value;
    if (Math.abs(sum) >= bound) count += 1;
  }
  return count;
}

function countDrawn(
  values: Float64Array,
  bound: number,
  { seed, draws }: Required<PermutationOptions>,
): number {
  const draw = random(seed).derive("permutation");
  let count = 0;
  for (let d = 0; d < draws; d++) {
    let sum = 0;
    let signs = 0;
    for (let i = 0; i < values.length; i++) {
      // One draw has 32 signs.
      if ((i & 31) === 0) signs = draw.int(2 ** 32);
      const value = values[i] ?? 0;
      sum += (signs >>> (i & 31)) & 1 ? value : -value;
    }
    if (Math.abs(sum) >= bound) count += 1;
  }
  return count;
}
