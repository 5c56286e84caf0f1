import { describe, expect, it } from "vitest";
import {
  disagreementNotes,
  holmAdjusted,
  pairedPermutationTest,
} from "../../src/evaluate/statistics.ts";

describe("pairedPermutationTest", () => {
  it("counts sign patterns whose mean is at least as far from 0", () => {
    expect(pairedPermutationTest([1, 2, 3], { seed: 1 })).toEqual({ p: 0.25, method: "exact" });
    // ±1 ±2 ±3 with sum 4 or more, or -4 or less: 6, 4 (1 turned), and their mirrors.
    expect(pairedPermutationTest([-1, 2, 3], { seed: 1 }).p).toBe(0.5);
    // A sum that is 0 but for rounding is reached by every pattern.
    expect(pairedPermutationTest([0.1, 0.2, -0.3], { seed: 1 }).p).toBe(1);
  });

  it("leaves pairs without a difference out", () => {
    const zeros = Array.from({ length: 500 }, () => 0);
    expect(pairedPermutationTest([...zeros, 1, 2, 3], { seed: 1 })).toEqual({
      p: 0.25,
      method: "exact",
    });
    expect(pairedPermutationTest(zeros, { seed: 1 }).p).toBe(1);
    expect(pairedPermutationTest([], { seed: 1 }).p).toBe(1);
  });

  it("draws patterns by the seed where there are too many", () => {
    const differences = Array.from({ length: 40 }, (_, i) => (i % 3) - 0.8);
    const [a, again, other] = [1, 1, 2].map((seed) => pairedPermutationTest(differences, { seed }));
    expect(again).toEqual(a);
    expect(other!.p).not.toBe(a!.p);
    // Every pattern but two falls short of 40 equal signs: only the observed one counts.
    const equal = Array.from({ length: 40 }, () => 1);
    expect(pairedPermutationTest(equal, { seed: 1, draws: 99 })).toEqual({
      p: 0.01,
      method: "drawn",
    });
  });
});

describe("holmAdjusted", () => {
  it("multiplies the smallest p by the number of tests, the next by one less, and keeps their order", () => {
    expect(holmAdjusted([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06]);
    expect(holmAdjusted([0.6, 0.7])).toEqual([1, 1]);
    expect(holmAdjusted([])).toEqual([]);
  });
});

describe("disagreementNotes", () => {
  it("explains an interval without 0 beside a p above .05, and the reverse", () => {
    const [open, shown] = [[-0.1, 0.2] as const, [0.01, 0.2] as const];
    expect(disagreementNotes([{ ci95: shown, p: 0.06 }])).toHaveLength(1);
    expect(disagreementNotes([{ ci95: open, p: 0.04 }])).toHaveLength(1);
    expect(disagreementNotes([{ ci95: [-0.2, -0.01], p: 0.06 }])).toHaveLength(1);
    expect(disagreementNotes([{ ci95: shown, p: 0.01 }, { ci95: open, p: 0.5 }])).toEqual([]); // prettier-ignore
  });
});
