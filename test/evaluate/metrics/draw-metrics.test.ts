import { describe, expect, it } from "vitest";
import {
  majorityRight,
  passAtK,
  passCounts,
  potentialAtK,
} from "../../../src/evaluate/metrics/draw-metrics.ts";

describe("passAtK", () => {
  it("is the chance that a random choice of k draws holds a right one", () => {
    expect(passAtK(4, 1, 2)).toBeCloseTo(1 - 3 / 6, 12);
    expect(passAtK(5, 2, 3)).toBeCloseTo(1 - 1 / 10, 12);
    expect(passAtK(16, 0, 8)).toBe(0);
    expect(passAtK(16, 9, 8)).toBe(1);
    expect(passAtK(4, 1, 1)).toBeCloseTo(0.25, 12);
    expect(passAtK(2000, 1, 1000)).toBeCloseTo(0.5, 9);
  });

  it("is unbiased: over all subsets of k draws it is the share with a right one", () => {
    const draws = [1, 0, 0, 1, 0, 0];
    for (const k of [1, 2, 3, 4, 5, 6]) {
      const subsets = Array.from({ length: 64 }, (_, mask) =>
        draws.filter((__, i) => ((mask >> i) & 1) === 1),
      ).filter((subset) => subset.length === k);
      const passed = subsets.filter((subset) => subset.includes(1)).length;
      expect(passAtK(6, 2, k)).toBeCloseTo(passed / subsets.length, 12);
    }
  });
});

describe("passCounts", () => {
  it("is powers of two and the number of draws, none for a single draw", () => {
    expect([1, 2, 3, 8, 10].map(passCounts)).toEqual([
      [],
      [1, 2],
      [1, 2, 3],
      [1, 2, 4, 8],
      [1, 2, 4, 8, 10],
    ]);
  });
});

describe("potentialAtK", () => {
  it("weighs what k tries recover by what the first one fails", () => {
    const greedy = [
      { passK: 1, pass1: 1 },
      { passK: 0.8, pass1: 0 },
      { passK: 0.25, pass1: 0 },
    ];
    expect(potentialAtK(greedy)).toBeCloseTo((0.8 + 0.25) / 2, 12);
    const drawn = [
      { passK: 1, pass1: 0.5 },
      { passK: 0, pass1: 0, weight: 2 },
    ];
    expect(potentialAtK(drawn)).toBeCloseTo(0.5 / 2.5, 12);
  });

  it("is not defined when nothing is ever failed", () => {
    expect(potentialAtK([{ passK: 1, pass1: 1 }])).toBeNull();
    expect(potentialAtK([])).toBeNull();
  });
});

describe("majorityRight", () => {
  const draws = (...answers: (string | null)[]) =>
    answers.map((answer) => ({ answer, em: Number(answer?.toLowerCase() === "oslo") }));

  it("is em of the most frequent answer, equal after normalisation", () => {
    expect(majorityRight(draws("Lima", "Oslo", "oslo"))).toBe(1);
    expect(majorityRight(draws("Lima", "the Lima.", "Oslo"))).toBe(0);
  });

  it("takes the earlier of two answers as frequent", () => {
    expect(majorityRight(draws("Oslo", "Lima"))).toBe(1);
    expect(majorityRight(draws("Lima", "Oslo", "Oslo", "Lima"))).toBe(0);
  });

  it("lets draws without an answer have no vote", () => {
    expect(majorityRight(draws(null, null, "Oslo"))).toBe(1);
    expect(majorityRight(draws(null, null))).toBe(0);
  });
});
