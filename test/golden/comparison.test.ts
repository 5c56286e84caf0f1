import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { crossedBootstrap, mcnemarExact, pairedEffect, shareEffect, smallestDetectable } from "../../src/experiment/compare/paired.ts";
import { standardError } from "../../src/base/statistics.ts";
import { type Interval, newcombeInterval, pairedBootstrap } from "../../src/evaluate/statistics.ts";

interface Resampled {
  ci95: Interval;
  standardError: number;
}

interface Golden {
  mcnemar: [onlyLeft: number, onlyRight: number, p: number][];
  paired: (Resampled & { left: number[]; right: number[]; effect: number })[];
  crossed: (Resampled & { left: number[][]; right: number[][] })[];
  detectable: [n: number, difference: number][];
  shareEffect: [left: number, right: number, h: number][];
  newcombe: [left: number, n: number, right: number, m: number, low: number, high: number][];
}

const golden = JSON.parse(
  await readFile(new URL("comparison.json", import.meta.url), "utf8"),
) as Golden;

/** Ends of two bootstraps with draws of their own: within a share of the interval's width. */
function expectSameInterval(found: Interval, expected: Interval, share: number): void {
  const allowed = share * (expected[1] - expected[0]);
  for (const end of [0, 1] as const) {
    expect(Math.abs(found[end] - expected[end]), `${found.join()} for ${expected.join()}`).toBeLessThan(allowed);
  }
}

describe("comparisons beside scipy's and statsmodels'", () => {
  it("gives McNemar's exact p, to nine digits", () => {
    for (const [onlyLeft, onlyRight, p] of golden.mcnemar) {
      expect(Math.abs(mcnemarExact({ onlyLeft, onlyRight }) / p - 1)).toBeLessThan(1e-9);
    }
  });

  it("gives the paired bootstrap's interval within 3 % of its width, standard error and effect exactly", () => {
    for (const { left, right, ci95, standardError: error, effect } of golden.paired) {
      const differences = left.map((value, i) => value - right[i]!);
      const found = pairedBootstrap(left, right, { seed: 1, resamples: 40_000 });
      expectSameInterval(found.ci95, ci95, 0.03);
      expect(standardError(differences)).toBeCloseTo(error, 12);
      expect(pairedEffect(differences)).toBeCloseTo(effect, 12);
    }
  });

  it("gives the interval and error of a bootstrap over questions and runs, within 3 %", () => {
    for (const { left, right, ci95, standardError: error } of golden.crossed) {
      const found = crossedBootstrap(left, right, { seed: 1, resamples: 20_000 });
      expectSameInterval(found.ci95, ci95, 0.03);
      expect(Math.abs(found.standardError / error - 1)).toBeLessThan(0.03);
    }
  });

  it("gives the smallest detectable difference within 1 % of the noncentral t's, .1 % from 50 questions on", () => {
    for (const [n, difference] of golden.detectable) {
      const found = smallestDetectable(1 / Math.sqrt(n), n - 1);
      expect(Math.abs(found / difference - 1), `n ${n}`).toBeLessThan(n < 50 ? 0.01 : 0.001);
    }
  });

  it("gives Cohen's h", () => {
    for (const [left, right, h] of golden.shareEffect) {
      expect(shareEffect(left, right)).toBeCloseTo(h, 12);
    }
  });

  it("gives Newcombe's intervals of two shares", () => {
    for (const [share, n, other, m, low, high] of golden.newcombe) {
      const found = newcombeInterval({ share, n }, { share: other, n: m });
      expect(found[0]).toBeCloseTo(low, 9);
      expect(found[1]).toBeCloseTo(high, 9);
    }
  });
});
