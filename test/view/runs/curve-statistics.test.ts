import { describe, expect, it } from "vitest";
import { bandOf, smoothed, thinned } from "../../../src/view/runs/curve-statistics.ts";

const curve = (...values: number[]) => values.map((value, i) => ({ step: i + 1, value }));

describe("bandOf", () => {
  it("gives the mean, the range and the t interval of the mean over runs", () => {
    const [point] = bandOf([curve(1), curve(2), curve(3)]);
    expect(point).toMatchObject({ step: 1, mean: 2, range: [1, 3] });
    // t of 97.5 % at two degrees is 4.30265; deviation 1, over the root of 3.
    expect(point?.t95?.[0]).toBeCloseTo(2 - 4.30265 / Math.sqrt(3), 4);
    expect(point?.t95?.[1]).toBeCloseTo(2 + 4.30265 / Math.sqrt(3), 4);
  });

  it("has only the steps that every run has, so that an end makes no jump", () => {
    expect(bandOf([curve(1, 1, 1), curve(3)]).map(({ step }) => step)).toEqual([1]);
    expect(bandOf([curve(1)])[0]).toEqual({ step: 1, mean: 1, range: [1, 1], t95: null });
    expect(bandOf([])).toEqual([]);
  });
});

describe("smoothed", () => {
  it("weighs neighbours by a Gaussian of one step in a short curve, to both sides", () => {
    const one = (at: number) =>
      smoothed(curve(...Array.from({ length: 21 }, (_, i) => (i === at ? 1 : 0))));
    const [near, far, edge] = [Math.exp(-0.5), Math.exp(-2), Math.exp(-4.5)];
    const sum = 1 + 2 * near + 2 * far + 2 * edge;
    expect(one(10)[10]?.value).toBeCloseTo(1 / sum, 10);
    expect(one(10)[12]?.value).toBeCloseTo(far / sum, 10);
    expect(one(10)[14]?.value).toBe(0);
    // At the first step there is nothing on the left.
    expect(one(2)[0]?.value).toBeCloseTo(far / (1 + near + far + edge), 10);
    expect(one(18)[20]?.value).toBeCloseTo(one(2)[0]?.value ?? NaN, 10);
  });

  it("leaves a level level, and few values alone", () => {
    const level = curve(...Array.from({ length: 30 }, () => 2));
    expect(smoothed(level)).toEqual(level);
    expect(smoothed(curve(7, 0, 3))).toEqual(curve(7, 0, 3));
    expect(smoothed([])).toEqual([]);
  });
});

describe("thinned", () => {
  it("keeps the smallest and largest value of each stretch, in the order of steps", () => {
    expect(thinned(curve(5, 1, 2, 9, 3, 3, 0, 4), 4)).toEqual([
      { step: 2, value: 1 },
      { step: 4, value: 9 },
      { step: 7, value: 0 },
      { step: 8, value: 4 },
    ]);
    expect(thinned(curve(1, 2), 4)).toEqual(curve(1, 2));
  });
});
