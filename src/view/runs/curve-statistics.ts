import { type Interval, summarize } from "../../evaluate/statistics.ts";

/** A value at a step. */
export interface StepValue {
  step: number;
  value: number;
}

/** The runs of an arm at a step. */
export interface BandPoint {
  step: number;
  mean: number;
  /** Smallest and largest of the runs. */
  range: Interval;
  /** 95 % t interval of the mean over runs; null below two. */
  t95: Interval | null;
}

/**
 * Mean and spread of runs, at the steps that all of them have: a mean would jump at the end of one.
 * @param runs at least one.
 * @example bandOf([[{ step: 1, value: 1 }], [{ step: 1, value: 3 }]])
 * // step 1: mean 2, range [1, 3], t95 2 ± 12.706 · √2 / √2
 */
export function bandOf(runs: readonly (readonly StepValue[])[]): BandPoint[] {
  const [first, ...others] = runs.map(
    (run) => new Map(run.map(({ step, value }) => [step, value])),
  );
  if (first === undefined) return [];
  return [...first].flatMap(([step, own]) => {
    const values = [own, ...others.map((run) => run.get(step))];
    const known = values.filter((value) => value !== undefined);
    if (known.length < values.length) return [];
    const { mean, ci95 } = summarize(known);
    return [{ step, mean, range: [Math.min(...known), Math.max(...known)], t95: ci95 }];
  });
}

/** Width of the smoothing's kernel as a share of a curve's steps. */
const KERNEL = 0.02;

/** Curves with fewer values are not smoothed: each value is visible. */
const FEWEST_SMOOTHED = 20;

/**
 * A curve smoothed by a Gaussian kernel over steps: with a deviation of 2 % of its length, at least one step, cut at three deviations. The
 * kernel is symmetric, so there is no lag; at the ends it uses the existing values. Fewer than 20 values are not changed.
 */
export function smoothed(values: readonly StepValue[]): StepValue[] {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined || values.length < FEWEST_SMOOTHED)
    return [...values];
  const spacing = (last.step - first.step) / Math.max(values.length - 1, 1);
  const deviation = Math.max(KERNEL * (last.step - first.step), spacing, 1e-9);
  const reach = 3 * deviation;
  let from = 0;
  return values.map(({ step }) => {
    while ((values[from]?.step ?? Infinity) < step - reach) from += 1;
    let [sum, weights] = [0, 0];
    for (let i = from; i < values.length; i++) {
      const other = values[i];
      if (other === undefined || other.step > step + reach) break;
      const weight = Math.exp(-0.5 * ((other.step - step) / deviation) ** 2);
      sum += weight * other.value;
      weights += weight;
    }
    return { step, value: sum / weights };
  });
}

/** Most points drawn of a curve. */
const MOST_POINTS = 600;

/**
 * At most `most` points of a curve: the smallest and the largest value of each section of steps, so that no spike is lost.
 * @param most even, at least 2.
 */
export function thinned(values: readonly StepValue[], most = MOST_POINTS): StepValue[] {
  if (values.length <= most) return [...values];
  const buckets = most / 2;
  return Array.from({ length: buckets }, (_, i) => {
    const [from, to] = [i, i + 1].map((at) => Math.round((at * values.length) / buckets));
    const own = values.slice(from, to).sort((a, b) => a.value - b.value);
    const ends = [own[0], own.at(-1)].filter((each) => each !== undefined);
    return ends.sort((a, b) => a.step - b.step);
  }).flat();
}
