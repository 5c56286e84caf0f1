import { mean } from "../../base/statistics.ts";

/** Figures of one curve of a run: the numbers that claims compare. */

/** A curve's value at a step; steps rise. */
export interface CurvePoint {
  step: number;
  value: number;
}

/** A figure of a curve. */
export interface CurveFigure {
  value: number;
  /** The run ended before it happened: the true value is larger. */
  isBound: boolean;
}

/**
 * The mean height of a curve: the area under it (trapezoids) divided by the steps that it spans.
 * @example curveArea([{ step: 0, value: 0 }, { step: 10, value: 1 }, { step: 40, value: 1 }]) // (5 + 30) / 40 = .875
 */
export function curveArea(points: readonly CurvePoint[]): number {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return Number.NaN;
  if (last.step === first.step) return last.value;
  const area = points.slice(1).reduce((sum, { step, value }, i) => {
    const before = points[i] ?? first;
    return sum + ((step - before.step) * (value + before.value)) / 2;
  }, 0);
  return area / (last.step - first.step);
}

/** The mean of the last n points; of all where there are fewer. */
export function lastMean(points: readonly CurvePoint[], n: number): number {
  return meanOf(points.slice(-n));
}

/** The mean of the first n points; of all where there are fewer. */
export function firstMean(points: readonly CurvePoint[], n: number): number {
  return meanOf(points.slice(0, n));
}

function meanOf(points: readonly CurvePoint[]): number {
  return mean(points.map(({ value }) => value));
}

/**
 * The points that are above `factor` times the curve's median (of an even number of points the upper of both in the middle).
 * @example values 1, 1, 5, 2 and factor 2: the median is 2, one point is above 4
 */
export function spikes(points: readonly CurvePoint[], factor: number): number {
  const values = points.map(({ value }) => value).sort((a, b) => a - b);
  const median = values[Math.floor(values.length / 2)] ?? Number.NaN;
  return values.filter((value) => value > factor * median).length;
}

/**
 * The first step at which a curve is at `level` or above, on the line between its points. A curve that never is: its last step, as a bound.
 * @example stepsTo([{ step: 0, value: 0.2 }, { step: 10, value: 0.7 }], 0.6) // { value: 8, isBound: false }
 */
export function stepsTo(points: readonly CurvePoint[], level: number): CurveFigure {
  const at = points.findIndex(({ value }) => value >= level);
  const reached = points[at];
  if (reached === undefined) return { value: points.at(-1)?.step ?? Number.NaN, isBound: true };
  const before = points[at - 1];
  if (before === undefined) return { value: reached.step, isBound: false };
  const share = (level - before.value) / (reached.value - before.value);
  return { value: before.step + share * (reached.step - before.step), isBound: false };
}

/**
 * As `stepsTo`, in what was spent until then.
 * @param spent of each step, such as tokens; the part of a step counts in proportion.
 */
export function spentTo(
  points: readonly CurvePoint[],
  level: number,
  spent: readonly CurvePoint[],
): CurveFigure {
  const { value: until, isBound } = stepsTo(points, level);
  const value = spent.reduce(
    (sum, { step, value: each }) => sum + each * Math.min(1, Math.max(0, until - (step - 1))),
    0,
  );
  return { value, isBound };
}
