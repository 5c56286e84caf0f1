import { random } from "../base/random.ts";
import { mean, sampleVariance } from "../base/statistics.ts";
import { centralQuantile } from "./student-t.ts";

/** Both ends of a 95 % interval. */
export type Interval = [low: number, high: number];

/** A sample's mean, how sure it is, and what it was computed from. */
export type Summary = { n: number; mean: number; deviation: number | null; ci95: Interval | null };

/** Standard normal quantile of 97.5 %. */
const Z95 = 1.959963984540054;

/**
 * Mean, sample deviation and t interval of at least one value: for the few runs of an experiment.
 * @example summarize([1, 2, 3]) // mean 2, deviation 1, ci95 2 ± 4.3027 · 1 / √3 = [-0.484, 4.484]
 */
export function summarize(values: readonly number[]): Summary {
  const n = values.length;
  if (n < 2) return { n, mean: mean(values), deviation: null, ci95: null };
  const centre = mean(values);
  const deviation = Math.sqrt(sampleVariance(values));
  const half = (centralQuantile(0.95, n - 1) * deviation) / Math.sqrt(n);
  return { n, mean: centre, deviation, ci95: [centre - half, centre + half] };
}

/** Wilson's interval of a share: sensible at 0, at 1, and for few trials. @example wilsonInterval(0, 10) // [0, 0.2775] */
export function wilsonInterval(successes: number, trials: number): Interval {
  const share = successes / trials;
  const z = Z95 ** 2 / trials;
  const centre = (share + z / 2) / (1 + z);
  const half = (Z95 / (1 + z)) * Math.sqrt((share * (1 - share) + z * 0.25) / trials);
  // Exactly 0 and 1 where they are: the difference of two roundings is not.
  return [
    successes === 0 ? 0 : Math.max(0, centre - half),
    successes === trials ? 1 : Math.min(1, centre + half),
  ];
}

/**
 * Newcombe's interval of the difference of two shares on two sets of questions: Wilson's intervals, put together as squares. A rounded share
 * is taken as it is. Source: Newcombe, Statistics in Medicine 17 (1998), method 10.
 * @example newcombeInterval({ share: 0.5, n: 10 }, { share: 0.1, n: 10 }) // [-0.0115, 0.6667]
 */
export function newcombeInterval(
  left: { share: number; n: number },
  right: { share: number; n: number },
): Interval {
  const [leftLow, leftHigh] = wilsonInterval(left.share * left.n, left.n);
  const [rightLow, rightHigh] = wilsonInterval(right.share * right.n, right.n);
  const difference = left.share - right.share;
  return [
    difference - Math.hypot(left.share - leftLow, rightHigh - right.share),
    difference + Math.hypot(leftHigh - left.share, right.share - rightLow),
  ];
}

/** A mean and its 95 % interval. */
type MeanWithInterval = { value: number; ci95: Interval | null };

/**
 * Mean of the means of independent sets, each with the same weight, and its interval: on either side the root of the sum of the squared
 * distances to the sets' own ends, over the number of sets. Source: Zou and Donner, Statistics in Medicine 27 (2008), whose difference of
 * two is Newcombe's interval. Sets without an interval leave the mean without one.
 * @example meanOfMeans([{ value: 0.5, ci95: [0.4, 0.6] }, { value: 0.3, ci95: [0.26, 0.34] }]) // 0.4, ± √(0.1² + 0.04²) / 2 = [0.346, 0.454]
 */
export function meanOfMeans(sets: readonly MeanWithInterval[]): MeanWithInterval {
  const value = mean(sets.map((set) => set.value));
  const intervals = sets.flatMap(({ ci95 }) => (ci95 === null ? [] : [ci95]));
  if (sets.length === 0 || intervals.length < sets.length) return { value, ci95: null };
  const half = (end: 0 | 1): number =>
    Math.hypot(...sets.map((set, i) => set.value - (intervals[i]?.[end] ?? Number.NaN))) /
    sets.length;
  return { value, ci95: [value - half(0), value + half(1)] };
}

/** How bootstrap resampling is done. */
export interface BootstrapOptions {
  seed: number;
  /** 2 000 by default: the ends then move by about 3 % of the interval's width from seed to seed. */
  resamples?: number;
}

/** Percentile bootstrap interval of a mean. @param values at least one, independent (one per question, not per sample of it). */
export function bootstrapInterval(values: readonly number[], options: BootstrapOptions): Interval {
  return bootstrapIntervals([values], options)[0] ?? [NaN, NaN];
}

/** `bootstrapInterval` of several figures of the same questions, each resample drawn once for all. @param columns [figures][questions]. */
export function bootstrapIntervals(
  columns: readonly (readonly number[])[],
  { seed, resamples = 2000 }: BootstrapOptions,
): Interval[] {
  const draw = random(seed).derive("bootstrap");
  const n = columns[0]?.length ?? 0;
  const drawn = new Uint32Array(n);
  const figures = columns.map((values) => ({ values, means: new Float64Array(resamples) }));
  for (let r = 0; r < resamples; r++) {
    for (let i = 0; i < n; i++) drawn[i] = draw.int(n);
    for (const { values, means } of figures) {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += values[drawn[i] ?? 0] ?? 0;
      means[r] = sum / n;
    }
  }
  return figures.map(({ means }) => percentileInterval(means));
}

/** What lies between the 2.5th and the 97.5th percentile of resampled figures. Sorts them in place. */
export function percentileInterval(resampled: Float64Array): Interval {
  resampled.sort();
  return [quantileOf(resampled, 0.025), quantileOf(resampled, 0.975)];
}

/** How much better `left` is than `right` on the same questions [n]: mean difference and its bootstrap interval, resampled in pairs. */
export function pairedBootstrap(
  left: readonly number[],
  right: readonly number[],
  options: BootstrapOptions,
): { difference: number; ci95: Interval } {
  const differences = left.map((value, i) => value - (right[i] ?? Number.NaN));
  return { difference: mean(differences), ci95: bootstrapInterval(differences, options) };
}

function quantileOf(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** A share of cases, and how sure it is. */
export type Share = { count: number; n: number; rate: number | null; ci95: Interval | null };

/** @example share(9, 10) // { count: 9, n: 10, rate: 0.9, ci95: [0.596, 0.982] } */
export function share(count: number, n: number): Share {
  if (n === 0) return { count, n, rate: null, ci95: null };
  return { count, n, rate: count / n, ci95: wilsonInterval(count, n) };
}

/** The share of those that hold. */
export function shareOf(values: readonly boolean[]): Share {
  return share(values.filter(Boolean).length, values.length);
}

/** One measure of two runs on the same questions. */
export interface PairedTest {
  left: number;
  right: number;
  difference: number;
  ci95: Interval;
  p: number;
  method: PermutationResult["method"];
}

/** A test among others. */
export interface Corrected {
  pHolm: number;
  /** By `pHolm` below .05. "no difference shown" does not mean that the two are equal. */
  verdict: "higher" | "lower" | "no difference shown";
}

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
