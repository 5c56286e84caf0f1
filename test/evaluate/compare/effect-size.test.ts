import { describe, expect, it } from "vitest";
import {
  pairedEffect,
  shareEffect,
  smallestDetectable,
} from "../../../src/evaluate/compare/effect-size.ts";

describe("effect sizes", () => {
  it("give the mean difference in units of the differences' deviation", () => {
    expect(pairedEffect([1, 0, 1, 0])).toBeCloseTo(0.5 / Math.sqrt(1 / 3), 12);
    expect(pairedEffect([-1, 0, -1, 0])).toBeCloseTo(-0.5 / Math.sqrt(1 / 3), 12);
  });

  it("are null without a deviation to measure by", () => {
    expect(pairedEffect([1, 1, 1])).toBeNull();
    expect(pairedEffect([1])).toBeNull();
  });

  it("give the distance of shares as angles", () => {
    expect(shareEffect(0.5, 0.25)).toBeCloseTo(Math.PI / 2 - Math.PI / 3, 12);
    expect(shareEffect(0, 1)).toBeCloseTo(-Math.PI, 12);
    // Small shares are further apart than middling ones.
    expect(shareEffect(0.05, 0.01)).toBeGreaterThan(shareEffect(0.52, 0.48));
  });
});

describe("smallestDetectable", () => {
  it("is (t of .975 + t of .8) standard errors", () => {
    // Two degrees of freedom have quantiles by hand: t = (2p − 1) √(2 / (4p (1 − p))).
    const quantile = (p: number): number => (2 * p - 1) * Math.sqrt(2 / (4 * p * (1 - p)));
    expect(smallestDetectable(0.5, 2)).toBeCloseTo(0.5 * (quantile(0.975) + quantile(0.8)), 9);
    // Many: 1.96 + 0.8416.
    expect(smallestDetectable(1, 1e6)).toBeCloseTo(2.8016, 3);
  });
});
