import { describe, expect, it } from "vitest";
import { bestCheck, outOfPatience, type Check } from "../../src/algorithms/early-stop.ts";

/** Checks at the start and after each five steps. */
const checks = (...values: number[]): Check[] => values.map((value, i) => ({ step: 5 * i, value }));
const rule = { better: "lower", patience: 2, minImprovement: 0 } as const;

describe("bestCheck", () => {
  it("is the lowest loss or the highest score of what was trained, the first of equals", () => {
    expect(bestCheck(checks(1, 3, 2, 2, 4), "lower")).toEqual({ step: 10, value: 2 });
    expect(bestCheck(checks(9, 3, 4, 4, 2), "higher")).toEqual({ step: 10, value: 4 });
  });

  it("is none before the first step, and never a loss that is no number", () => {
    expect(bestCheck(checks(1), "lower")).toBeUndefined();
    expect(bestCheck(checks(1, NaN, 5), "lower")).toEqual({ step: 10, value: 5 });
  });
});

describe("outOfPatience", () => {
  it("stops after so many checks in a row without an improvement", () => {
    expect(outOfPatience(checks(3, 2, 2.5), rule)).toBe(false);
    expect(outOfPatience(checks(3, 2, 2.5, 2), rule)).toBe(true);
    // An improvement begins the count anew.
    expect(outOfPatience(checks(3, 2, 2.5, 1.9, 2), rule)).toBe(false);
    expect(outOfPatience(checks(0.3, 0.2, 0.1), { ...rule, better: "higher" })).toBe(true);
  });

  it("compares with the last improvement, so that many small ones are one in the end", () => {
    const demanding = { ...rule, minImprovement: 0.5 };
    expect(outOfPatience(checks(3, 2.7, 2.4, 2.1), demanding)).toBe(false);
    expect(outOfPatience(checks(3, 2.7, 2.6), demanding)).toBe(true);
  });

  it("never stops without a patience", () => {
    expect(outOfPatience(checks(1, 2, 3, 4), { ...rule, patience: null })).toBe(false);
  });
});
