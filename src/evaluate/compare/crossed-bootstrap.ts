import { type Random, random } from "../../base/random.ts";
import {
  type BootstrapOptions,
  type Interval,
  mean,
  percentileInterval,
  sampleVariance,
} from "../statistics.ts";

/** A mean difference that would move with other questions and with other runs. */
export interface CrossedDifference {
  /** Left mean minus right mean. */
  difference: number;
  ci95: Interval;
  /** Deviation of the resampled differences. */
  standardError: number;
}

/**
 * How much better several runs (seeds) of one system are than several of another, all on the same questions. Questions are
 * drawn again with replacement, the same for every run; so are each side's runs, for themselves. Both are a sample of what
 * could have been, so both must widen the interval.
 *
 * Source: Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1 (2007), section 3. It rather overstates the error
 * that questions bring; few runs are drawn again from themselves and understate theirs by (R − 1) / R of the variance.
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

/** How often each run is taken, when as many as there are are drawn with replacement. */
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
