import { describe, expect, it } from "vitest";
import { agreementOf, mcnemarExact } from "../../../src/evaluate/compare/mcnemar.ts";
import { pairedPermutationTest } from "../../../src/evaluate/permutation-test.ts";

describe("agreementOf", () => {
  it("counts which of the two has a question right", () => {
    expect(agreementOf([1, 1, 0, 0, 1], [1, 0, 1, 0, 1])).toEqual({
      ...{ both: 2, onlyLeft: 1, onlyRight: 1, neither: 1 },
    });
  });
});

describe("mcnemarExact", () => {
  it("is the chance of a split at least this uneven among fair coins", () => {
    // 2 · (C(6, 0) + C(6, 1)) / 2⁶
    expect(mcnemarExact({ onlyLeft: 1, onlyRight: 5 })).toBeCloseTo(14 / 64, 12);
    expect(mcnemarExact({ onlyLeft: 5, onlyRight: 1 })).toBeCloseTo(14 / 64, 12);
    expect(mcnemarExact({ onlyLeft: 0, onlyRight: 10 })).toBeCloseTo(2 / 1024, 12);
  });

  it("is 1 for an even split, and where the two never disagree", () => {
    expect(mcnemarExact({ onlyLeft: 4, onlyRight: 4 })).toBe(1);
    expect(mcnemarExact({ onlyLeft: 0, onlyRight: 0 })).toBe(1);
    // 2 · P(X ≤ 4 of 9) is above 1 but for rounding.
    expect(mcnemarExact({ onlyLeft: 4, onlyRight: 5 })).toBeCloseTo(1, 12);
  });

  it("agrees with the permutation test over all sign patterns of right and wrong", () => {
    for (const [onlyLeft, onlyRight] of [
      [3, 9],
      [2, 2],
      [12, 7],
      [1, 0],
    ] as const) {
      const differences = [
        ...Array.from({ length: onlyLeft }, () => 1),
        ...Array.from({ length: onlyRight }, () => -1),
      ];
      const { p, method } = pairedPermutationTest(differences, { seed: 1 });
      expect(method).toBe("exact");
      expect(mcnemarExact({ onlyLeft, onlyRight })).toBeCloseTo(p, 12);
    }
  });
});
