import { describe, expect, it } from "vitest";
import { compareRetrieval } from "../../src/evaluate/retrieval-comparison.ts";
import type { QueryScores } from "../../src/evaluate/retrieval-scores.ts";

const scores = (a: number[], b: number[]): QueryScores[] =>
  a.map((value, i) => ({ id: `q${i}`, metrics: { a: value, b: b[i]! } }));

const ones = Array.from({ length: 8 }, () => 1);
const zeros = ones.map(() => 0);
const last = zeros.map((_, i) => Number(i === 7));

describe("compareRetrieval", () => {
  it("gives difference, interval, p, and the p of Holm over the metrics", () => {
    const [a, b] = compareRetrieval(scores(ones, last), scores(zeros, zeros), ["a", "b"], {
      seed: 1,
    });
    // 8 pairs of equal sign: 2 of 256 patterns; doubled for the smaller of two tests.
    expect(a).toEqual({
      ...{ metric: "a", left: 1, right: 0, difference: 1, ci95: [1, 1] },
      ...{ p: 2 / 256, pHolm: 4 / 256, method: "exact", verdict: "higher" },
    });
    expect(b).toMatchObject({ difference: 0.125, p: 1, pHolm: 1, verdict: "no difference shown" });
  });

  it("takes its verdict from the corrected p", () => {
    // 6 pairs of equal sign: p = 2 / 64 = .031, twice that with a second metric.
    const six = zeros.map((_, i) => Number(i < 6));
    const [alone] = compareRetrieval(scores(zeros, zeros), scores(six, last), ["a"], { seed: 1 });
    expect(alone).toMatchObject({ p: 2 / 64, pHolm: 2 / 64, verdict: "lower" });
    const [beside] = compareRetrieval(scores(zeros, zeros), scores(six, last), ["a", "b"], {
      seed: 1,
    });
    expect(beside).toMatchObject({ p: 2 / 64, pHolm: 4 / 64, verdict: "no difference shown" });
  });
});
