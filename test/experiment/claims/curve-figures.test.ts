import { describe, expect, it } from "vitest";
import {
  curveArea,
  type CurvePoint,
  lastMean,
  spentTo,
  firstMean,
  spikes,
  stepsTo,
} from "../../../src/experiment/claims/curve-figures.ts";

const curve = (...points: [step: number, value: number][]): CurvePoint[] =>
  points.map(([step, value]) => ({ step, value }));

/** 0 at step 0, .4 at step 10, .8 at step 30. */
const RISING = curve([0, 0], [10, 0.4], [30, 0.8]);

describe("curveArea", () => {
  it("weighs points by the steps between them", () => {
    // Trapezoids of 10 · .2 and 20 · .6, over 30 steps.
    expect(curveArea(RISING)).toBeCloseTo(14 / 30, 12);
    expect(curveArea(curve([5, 0.3]))).toBe(0.3);
    expect(curveArea([])).toBeNaN();
  });
});

describe("lastMean", () => {
  it("is the mean of the last points, or of all there are", () => {
    expect(lastMean(RISING, 2)).toBeCloseTo(0.6, 12);
    expect(lastMean(RISING, 9)).toBeCloseTo(0.4, 12);
  });
});

describe("means of a part, and spikes", () => {
  const points = curve([0, 1], [1, 1], [2, 5], [3, 2]);
  it("averages the first or the last points", () => {
    expect(firstMean(points, 3)).toBeCloseTo(7 / 3, 12);
    expect(lastMean(points, 2)).toBe(3.5);
    expect(firstMean(points, 9)).toBe(2.25);
  });

  it("counts the points above a multiple of the median", () => {
    expect(spikes(points, 2)).toBe(1);
    expect(spikes(points, 0.9)).toBe(2);
    expect(spikes(curve([0, 1], [1, 3], [2, 2]), 1)).toBe(1);
  });
});

describe("stepsTo", () => {
  it("is where the line between points first reaches the level", () => {
    expect(stepsTo(RISING, 0.6)).toEqual({ value: 20, isBound: false });
    expect(stepsTo(RISING, 0.4)).toEqual({ value: 10, isBound: false });
    expect(stepsTo(RISING, 0)).toEqual({ value: 0, isBound: false });
    // It falls again later: the first time counts.
    expect(stepsTo(curve([0, 0], [10, 1], [20, 0], [30, 1]), 0.5).value).toBe(5);
  });

  it("is bounded by the last step where the level is never reached", () => {
    expect(stepsTo(RISING, 0.81)).toEqual({ value: 30, isBound: true });
  });
});

describe("spentTo", () => {
  const tokens = curve([1, 100], [2, 200], [3, 400]);
  it("adds up what the steps until then spent, the last one in part", () => {
    // Reached at step 2.5: 100 + 200 + half of 400.
    expect(spentTo(curve([0, 0], [5, 1]), 0.5, tokens)).toEqual({ value: 500, isBound: false });
    expect(spentTo(curve([0, 1], [5, 1]), 0.5, tokens)).toEqual({ value: 0, isBound: false });
    expect(spentTo(curve([0, 0], [3, 0.2]), 0.5, tokens)).toEqual({ value: 700, isBound: true });
  });
});
