import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { pairedBootstrap, pairedPermutationTest } from "../../../src/evaluate/statistics.ts";
import {
  agreementOf,
  crossedBootstrap,
  mcnemarExact,
  pairedEffect,
  shareEffect,
  smallestDetectable,
} from "../../../src/experiment/compare/paired.ts";

describe("agreementOf", () => {
  it("counts which of the two has a question right", () => {
    expect(agreementOf([1, 1, 0, 0, 1], [1, 0, 1, 0, 1])).toEqual({
      both: 2,
      onlyLeft: 1,
      onlyRight: 1,
      neither: 1,
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

describe("crossedBootstrap", () => {
  it("has no width where neither questions nor runs differ", () => {
    const found = crossedBootstrap([[1, 1, 1]], [[0, 0, 0], [0, 0, 0]], { seed: 1 }); // prettier-ignore
    expect(found).toEqual({ difference: 1, ci95: [1, 1], standardError: 0 });
  });

  it("widens with the spread between runs, on questions that are all alike", () => {
    // Two runs a side: the mean of two redrawn runs is 0, .5 or 1 with chances ¼, ½, ¼.
    const found = crossedBootstrap([[1, 1], [0, 0]], [[0, 0]], { seed: 1, resamples: 20_000 }); // prettier-ignore
    expect(found.difference).toBe(0.5);
    expect(found.ci95).toEqual([0, 1]);
    expect(found.standardError).toBeCloseTo(Math.sqrt(1 / 8), 2);
  });

  it("is the paired bootstrap where each side has one run", () => {
    const draw = random("crossed");
    const [left, right] = [0.6, 0.5].map((share) =>
      Array.from({ length: 300 }, () => Number(draw.next() < share)),
    );
    const options = { seed: 1, resamples: 20_000 };
    const paired = pairedBootstrap(left!, right!, options);
    const crossed = crossedBootstrap([left!], [right!], options);
    expect(crossed.difference).toBeCloseTo(paired.difference, 12);
    for (const end of [0, 1] as const) {
      expect(Math.abs(crossed.ci95[end] - paired.ci95[end])).toBeLessThan(0.005);
    }
  });

  it("gives the same for the same seed", () => {
    const runs = [[0, 1, 1, 0, 1], [1, 1, 0, 0, 1]]; // prettier-ignore
    const other = [[0, 0, 1, 0, 0]];
    expect(crossedBootstrap(runs, other, { seed: 3 })).toEqual(
      crossedBootstrap(runs, other, { seed: 3 }),
    );
  });
});
