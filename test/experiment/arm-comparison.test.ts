import { describe, expect, it } from "vitest";
import { compareArms, type SeededValue } from "../../src/experiment/arm-comparison.ts";

const runs = (...values: number[]): SeededValue[] =>
  values.map((value, i) => ({ seed: i + 1, value }));

describe("compareArms", () => {
  it("pairs arms that ran the same seeds, in whatever order", () => {
    const left = runs(3, 5);
    const right = runs(2, 2).reverse();
    const { difference, ci95, p, method } = compareArms(left, right);
    expect(method).toBe("paired-t");
    expect(difference).toBe(2);
    // Differences 1 and 3: standard error 1, t(1) = 12.7062; p = 1 − (2/π)·atan(2).
    expect(ci95![0]).toBeCloseTo(2 - 12.7062, 4);
    expect(ci95![1]).toBeCloseTo(2 + 12.7062, 4);
    expect(p).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(2), 10);
  });

  it("finds by pairing what the arms' own spread hides", () => {
    const left = runs(0.2, 0.5, 0.8);
    const right = runs(0.11, 0.4, 0.69);
    expect(compareArms(left, right).ci95![0]).toBeGreaterThan(0);
    const others = right.map(({ seed, value }) => ({ seed: seed + 10, value }));
    const unpaired = compareArms(left, others);
    expect(unpaired.method).toBe("welch-t");
    expect(unpaired.ci95![0]).toBeLessThan(0);
  });

  it("does not pair when only some seeds are shared", () => {
    expect(compareArms(runs(1, 2, 3), runs(1, 2)).method).toBe("welch-t");
  });

  it("gives a difference without interval for one run", () => {
    const expected = { difference: 0.5, ci95: null, p: null };
    expect(compareArms(runs(1), runs(0.5))).toEqual({ ...expected, method: "paired-t" });
    expect(compareArms(runs(1), 0.5)).toEqual({ ...expected, method: "one-sample-t" });
    expect(compareArms(runs(1, 1), runs(0.5))).toMatchObject({ ci95: null, method: "welch-t" });
  });

  it("gives runs that do not vary no interval and no p: they cannot show how sure they are", () => {
    const nothing = { ci95: null, p: null };
    expect(compareArms(runs(1, 1), runs(0.5, 0.5))).toMatchObject({ difference: 0.5, ...nothing });
    expect(compareArms(runs(1, 1), runs(1, 1))).toMatchObject({ difference: 0, ...nothing });
    const other = [
      { seed: 9, value: 1 },
      { seed: 8, value: 1 },
    ];
    expect(compareArms(runs(2, 2), other)).toMatchObject({ ...nothing, method: "welch-t" });
    // .7 − .2, .8 − .3 and .9 − .4 differ in the last binary digit only.
    expect(compareArms(runs(0.7, 0.8, 0.9), runs(0.2, 0.3, 0.4))).toMatchObject(nothing);
  });
});
