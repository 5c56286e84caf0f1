import { random, type Random } from "../../base/random.ts";
import { mean, sampleVariance } from "../../base/statistics.ts";
import {
  type BootstrapOptions,
  type Interval,
  percentileInterval,
} from "../../evaluate/statistics.ts";
import { centralQuantile, regularizedBeta } from "../../evaluate/student-t.ts";

/** Counts of questions by which of two runs is right. */
export interface Agreement {
  both: number;
  onlyLeft: number;
  onlyRight: number;
  neither: number;
}

/**
 * Counts questions by which of two runs has them right.
 * @param left [n] of 0 and 1; `right` likewise, in the same order.
 * @example agreementOf([1, 1, 0], [1, 0, 0]) // both 1, only left 1, only right 0, neither 1
 */
export function agreementOf(left: readonly number[], right: readonly number[]): Agreement {
  const counts: Agreement = { both: 0, onlyLeft: 0, onlyRight: 0, neither: 0 };
  for (const [i, value] of left.entries()) {
    const other = right[i] === 1;
    if (value === 1) counts[other ? "both" : "onlyLeft"] += 1;
    else counts[other ? "onlyRight" : "neither"] += 1;
  }
  return counts;
}

/**
 * McNemar's test, exact: the two-sided probability of a split at least this uneven, if each question on which the two disagree were a fair
 * coin. Questions on which they agree do not count. 1 if they never disagree.
 *
 * Source: McNemar, Psychometrika 12 (1947); the binomial instead of his χ² approximation, without mid-p.
 *
 * @example mcnemarExact({ onlyLeft: 1, onlyRight: 5 }) // 2 · (C(6, 0) + C(6, 1)) / 2⁶ = 0.21875
 */
export function mcnemarExact({
  onlyLeft,
  onlyRight,
}: Pick<Agreement, "onlyLeft" | "onlyRight">): number {
  const fewer = Math.min(onlyLeft, onlyRight);
  const all = onlyLeft + onlyRight;
  // For an even split both tails contain the middle.
  if (2 * fewer === all) return 1;
  // The binomial's lower tail, P(X ≤ k) of n fair coins, is I½(n − k, k + 1).
  return Math.min(1, 2 * regularizedBeta(0.5, all - fewer, fewer + 1));
}

/**
 * Cohen's d of paired values: the mean difference in units of the differences' own deviation (n − 1), called dz. Null if the deviation is 0
 * or undefined.
 *
 * Source: Cohen, Statistical Power Analysis (1988), section 2.3.5.
 *
 * @example pairedEffect([1, 0, 1, 0]) // mean .5, deviation .5774: 0.866
 */
export function pairedEffect(differences: readonly number[]): number | null {
  const deviation = Math.sqrt(sampleVariance(differences));
  if (!(deviation > 0)) return null;
  return mean(differences) / deviation;
}

/**
 * Cohen's h: the distance of two shares as angles, so that .01 and .05 are as far apart as .45 and .55. About .2 is small, .5 medium, .8
 * large. It ignores the pairing.
 *
 * Source: Cohen (1988), section 6.2.
 *
 * @example shareEffect(0.5, 0.25) // 2 asin √.5 − 2 asin √.25 = 1.5708 − 1.0472
 */
export function shareEffect(left: number, right: number): number {
  return 2 * Math.asin(Math.sqrt(left)) - 2 * Math.asin(Math.sqrt(right));
}

/**
 * The smallest true difference that a two-sided test at level .05 would find with a probability of .8, given the standard error of the
 * difference: (t of .975 + t of .8) · error. A smaller difference can be real but is likely missed.
 *
 * Source: Bloom, Evaluation Review 19 (1995), for the sum of two quantiles in place of the noncentral t distribution: within
 * 1 % of it from ten questions on.
 *
 * @param standardError of the difference.
 * @param degrees questions less one; at least 1.
 * @example smallestDetectable(0.01, 499) // (1.9647 + 0.8425) · .01 = 0.0281
 */
export function smallestDetectable(standardError: number, degrees: number): number {
  // Of a share of .6 around the middle, .2 lie above.
  return (centralQuantile(0.95, degrees) + centralQuantile(0.6, degrees)) * standardError;
}

/** A mean difference whose interval covers other questions and other runs. */
interface CrossedDifference {
  /** Left mean minus right mean. */
  difference: number;
  ci95: Interval;
  /** Deviation of the resampled differences. */
  standardError: number;
}

/**
 * Difference between several runs (seeds) of one system and several of another, all on the same questions. The bootstrap resamples
 * questions, the same for every run, and independently each side's runs. Both are samples, so both must widen the interval.
 *
 * Source: Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1 (2007), section 3. It slightly overestimates the error from
 * questions; with few runs it underestimates the variance from runs by the factor (R − 1) / R.
 *
 * @param left [R][n] a value per run and question; `right` [S][n], the same questions in the same order.
 */
export function crossedBootstrap(
  left: readonly (readonly number[])[],
  right: readonly (readonly number[])[],
  { seed, resamples = 2000 }: BootstrapOptions,
): CrossedDifference {
  const draw = random(seed).derive("crossed-bootstrap");
  const questions = left[0]?.length ?? 0;
  const [leftColumns, rightColumns] = [byQuestion(left), byQuestion(right)];
  const [leftTimes, rightTimes] = [left.map(() => 0), right.map(() => 0)];
  const differences = new Float64Array(resamples);
  for (let r = 0; r < resamples; r++) {
    redraw(leftTimes, draw);
    redraw(rightTimes, draw);
    let sum = 0;
    for (let i = 0; i < questions; i++) {
      const question = draw.int(questions);
      sum += weighted(leftColumns, question, leftTimes) / left.length;
      sum -= weighted(rightColumns, question, rightTimes) / right.length;
    }
    differences[r] = sum / questions;
  }
  return {
    difference: mean(left.map(mean)) - mean(right.map(mean)),
    standardError: Math.sqrt(sampleVariance([...differences])),
    ci95: percentileInterval(differences),
  };
}

/** Draws as many runs as there are, with replacement, and counts how often each is drawn. */
function redraw(times: number[], draw: Random): void {
  times.fill(0);
  for (let i = 0; i < times.length; i++) {
    const run = draw.int(times.length);
    times[run] = (times[run] ?? 0) + 1;
  }
}

/** [R][n] → [n · R]: one question's values side by side, for the innermost loop. */
function byQuestion(runs: readonly (readonly number[])[]): Float64Array {
  const values = new Float64Array(runs.length * (runs[0]?.length ?? 0));
  runs.forEach((run, r) => {
    run.forEach((value, q) => (values[q * runs.length + r] = value));
  });
  return values;
}

function weighted(columns: Float64Array, question: number, times: readonly number[]): number {
  let sum = 0;
  for (let r = 0; r < times.length; r++) {
    sum += (columns[question * times.length + r] ?? 0) * (times[r] ?? 0);
  }
  return sum;
}
