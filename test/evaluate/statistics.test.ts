import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { mean, sampleVariance } from "../../src/base/statistics.ts";
import {
  bootstrapInterval,
  meanOfMeans,
  pairedBootstrap,
  summarize,
  wilsonInterval,
} from "../../src/evaluate/statistics.ts";

describe("summarize", () => {
  it("gives the mean, the sample deviation and the t interval of the mean", () => {
    const { n, mean: centre, deviation, ci95 } = summarize([1, 2, 3]);
    expect([n, centre, deviation]).toEqual([3, 2, 1]);
    expect(ci95![0]).toBeCloseTo(2 - 4.302653 / Math.sqrt(3), 5);
    expect(ci95![1]).toBeCloseTo(2 + 4.302653 / Math.sqrt(3), 5);
  });

  it("has no interval for one value, and a point for equal ones", () => {
    expect(summarize([0.5])).toEqual({ n: 1, mean: 0.5, deviation: null, ci95: null });
    expect(summarize([0.5, 0.5]).ci95).toEqual([0.5, 0.5]);
  });
});

describe("sampleVariance", () => {
  it("divides by one less than the number of values", () => {
    expect(sampleVariance([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(32 / 7, 12);
    expect(sampleVariance([1])).toBeNaN();
  });
});

describe("wilsonInterval", () => {
  it("stays within 0 and 1 and has a width where nothing was hit", () => {
    const [low, high] = wilsonInterval(0, 10);
    expect(low).toBe(0);
    // z² / (n + z²)
    expect(high).toBeCloseTo(3.8414588 / 13.8414588, 6);
    expect(wilsonInterval(10, 10)[1]).toBe(1);
  });
});

describe("meanOfMeans", () => {
  it("adds the sets' distances to their ends as squares, over the number of sets", () => {
    const sets = [
      { value: 0.5, ci95: [0.4, 0.6] },
      { value: 0.3, ci95: [0.26, 0.34] },
    ] as const;
    const found = meanOfMeans(sets.map(({ value, ci95: [low, high] }) => ({ value, ci95: [low, high] }))); // prettier-ignore
    // √(.1² + .04²) / 2 = .05385
    expect(found.value).toBeCloseTo(0.4, 12);
    expect(found.ci95?.[0]).toBeCloseTo(0.4 - 0.053852, 6);
    expect(found.ci95?.[1]).toBeCloseTo(0.4 + 0.053852, 6);
  });

  it("has no interval where a set has none", () => {
    expect(meanOfMeans([{ value: 0.5, ci95: null }]).ci95).toBeNull();
  });
});

describe("bootstrapInterval", () => {
  const draw = random(3);
  const values = Array.from({ length: 400 }, () => draw.normal());

  it("is the same for the same seed and another for another", () => {
    const first = bootstrapInterval(values, { seed: 1 });
    expect(bootstrapInterval(values, { seed: 1 })).toEqual(first);
    expect(bootstrapInterval(values, { seed: 2 })).not.toEqual(first);
  });

  it("comes near the normal interval of many values", () => {
    const [low, high] = bootstrapInterval(values, { seed: 1, resamples: 4000 });
    const half = 1.96 * Math.sqrt(sampleVariance(values) / values.length);
    expect(low).toBeCloseTo(mean(values) - half, 1);
    expect(high).toBeCloseTo(mean(values) + half, 1);
    expect((high - low) / (2 * half)).toBeGreaterThan(0.93);
    expect((high - low) / (2 * half)).toBeLessThan(1.07);
  });

  it("is a point for equal values", () => {
    expect(bootstrapInterval([1, 1, 1], { seed: 1 })).toEqual([1, 1]);
  });
});

describe("pairedBootstrap", () => {
  it("sees a constant advantage exactly, however much the questions differ", () => {
    const right = [0, 1, 0, 1, 1];
    const left = right.map((value) => value + 0.5);
    expect(pairedBootstrap(left, right, { seed: 1 })).toEqual({
      difference: 0.5,
      ci95: [0.5, 0.5],
    });
  });

  it("has an interval around 0 for runs that win as often as they lose", () => {
    const left = [1, 0, 1, 0, 1, 0, 1, 0];
    const right = left.map((value) => 1 - value);
    const { difference, ci95 } = pairedBootstrap(left, right, { seed: 1 });
    expect(difference).toBe(0);
    expect(ci95[0]).toBeLessThan(0);
    expect(ci95[1]).toBeGreaterThan(0);
  });
});
