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

/** Linear interpolation between the two nearest of sorted values. */
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
