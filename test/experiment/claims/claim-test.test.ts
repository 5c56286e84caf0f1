import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import {
  armInterval,
  combinedVerdict,
  compareMeasured,
  correctedPs,
  equalityOf,
  type MeasuredArm,
  roomlessness,
  verdictOf,
} from "../../../src/experiment/claims/claim-test.ts";

const SHARE = { isShare: true };

/** Rows of seeds, one digit per question. */
function arm(...seeds: string[]): MeasuredArm {
  const byQuestion = seeds.map((digits) => Array.from(digits, Number));
  const bySeed = byQuestion.map((row) => row.reduce((sum, each) => sum + each, 0) / row.length);
  return { bySeed, byQuestion };
}

describe("compareMeasured", () => {
  it("gives seeds that agree the uncertainty of the questions, not an interval of width 0", () => {
    const { difference, ci95, p, over } = compareMeasured(
      arm("1111", "1111"),
      arm("0111", "0111"),
      SHARE,
    );
    expect({ difference, over }).toEqual({ difference: 0.25, over: "seeds and questions" });
    // 1 0 0 0 1 −1: mean 1/6, squared deviations 2.8333 / 5 / 6 = .3073², t(5) = 2.5706. The seeds agree, so they add nothing.
    expect(ci95?.[0]).toBeCloseTo(1 / 6 - 2.5706 * 0.3073, 3);
    expect(ci95?.[1]).toBeCloseTo(1 / 6 + 2.5706 * 0.3073, 3);
    expect(p).toBeGreaterThan(0.5);
  });

  it("adds the error over seeds and the error over questions", () => {
    const left = arm("1".repeat(200), "0".repeat(200));
    const { ci95, p } = compareMeasured(left, arm("0".repeat(200), "0".repeat(200)), SHARE);
    expect(ci95).toEqual([-1, 1]);
    // Seeds 1 and 0, shrunk by 200/202: mean .495 is the error over seeds; the questions' means are all 1/2, with two pseudo-questions.
    expect(p).toBeCloseTo(0.5, 2);
    const found = compareMeasured(arm("1100", "1010"), arm("0100", "0110"), { isShare: false });
    // Seeds: .25 and 0: error .125. Questions: 1 −.5 0 0, of mean .125: squared deviations 1.1875; error √(1.1875 / 12).
    expect(found.error?.seeds).toBeCloseTo(0.125, 12);
    expect(found.error?.questions).toBeCloseTo(Math.sqrt(1.1875 / 12), 12);
    expect(found.error?.total).toBeCloseTo(Math.sqrt(0.125 ** 2 + 1.1875 / 12), 12);
    // Satterthwaite: (.015625 + .0989583)² / (.015625² / 1 + .0989583² / 3) = .0131293 / .0035084.
    expect(found.error?.degrees).toBeCloseTo(3.742, 3);
  });

  it("moderates the variance between seeds by what is known before", () => {
    const known = (...bySeed: number[]): MeasuredArm => ({ bySeed, byQuestion: null });
    const prior = { degrees: 3, deviation: 0.05 };
    const found = compareMeasured(known(0.6, 0.8), known(0.5, 0.5), { isShare: false, prior });
    // (3 · .0025 + 1 · .02) / 4 = .006875 over 2 seeds, with 3 + 1 degrees of freedom.
    expect(found.error?.total).toBeCloseTo(Math.sqrt(0.006875 / 2), 12);
    expect(found.error?.degrees).toBeCloseTo(4, 12);
    // Without it √(.02 / 2) with 1 degree.
    const plain = compareMeasured(known(0.6, 0.8), known(0.5, 0.5), { isShare: false });
    expect(plain.error?.total).toBeCloseTo(0.1, 12);
    expect(plain.error?.degrees).toBeCloseTo(1, 12);
  });

  it("tests whether the smallest effect of interest is excluded", () => {
    const known = (...bySeed: number[]): MeasuredArm => ({ bySeed, byQuestion: null });
    const found = compareMeasured(known(3, 5), known(2, 2), { isShare: false, effect: 4 });
    // Difference 2, error 1, one degree of freedom: P(T > 2) = ½ − atan(2)/π.
    expect(found.pEffect).toBeCloseTo(0.5 - Math.atan(2) / Math.PI, 6);
    const above = compareMeasured(known(3, 5), known(2, 2), { isShare: false, effect: 1 });
    expect(above.pEffect).toBeCloseTo(0.5 + Math.atan(1) / Math.PI, 6);
    expect(compareMeasured(known(3, 5), known(2, 2), { isShare: false }).pEffect).toBeNull();
  });

  it("never claims p 0 or leaves −1 … 1, not even where every question differs", () => {
    const { ci95, p } = compareMeasured(arm("11111111", "11111111"), arm("00000000", "00000000"), {
      isShare: true,
    });
    expect(p).toBeGreaterThan(0);
    expect(ci95?.[1]).toBe(1);
    expect(ci95?.[0]).toBeGreaterThan(0);
  });

  it("compares with a number inside the room that a share has", () => {
    const { difference, ci95 } = compareMeasured(arm("1110", "1110"), 0.5, SHARE);
    expect(difference).toBe(0.25);
    expect(ci95?.[1]).toBeLessThanOrEqual(0.5);
    expect(ci95?.[0]).toBeGreaterThanOrEqual(-0.5);
  });

  it("falls back to the seeds where questions are unknown, and says nothing where these agree", () => {
    const known = (...bySeed: number[]): MeasuredArm => ({ bySeed, byQuestion: null });
    const found = compareMeasured(known(3, 5), known(2, 2), { isShare: false });
    expect(found).toMatchObject({ difference: 2, over: "seeds" });
    // Differences 1 and 3: standard error 1, t(1) = 12.7062.
    expect(found.ci95?.[0]).toBeCloseTo(2 - 12.7062, 4);
    // .8 − .3 and .7 − .2 differ in their last binary digit only.
    const equal = compareMeasured(known(0.8, 0.7), known(0.3, 0.2), SHARE);
    expect(equal).toMatchObject({ ci95: null, p: null });
  });

  it("gives one seed no interval", () => {
    expect(compareMeasured(arm("1111"), arm("0000"), SHARE)).toMatchObject({ ci95: null, p: null });
  });

  it("covers the true difference of seeds × questions in 92 to 99 of 100 cases", () => {
    for (const [i, spread] of [0.1, 0.3].entries()) {
      const covered = coverage({
        seeds: 3,
        questions: 300,
        spread,
        difficulty: 1.5,
        cases: 800,
        seed: i,
      });
      expect(covered).toBeGreaterThan(0.92);
      expect(covered).toBeLessThan(0.99);
    }
  });
});

describe("a margin", () => {
  it("moves what the difference is tested against, not the difference", () => {
    const known = (...bySeed: number[]): MeasuredArm => ({ bySeed, byQuestion: null });
    const [left, right] = [known(3, 5), known(2, 2)];
    const found = compareMeasured(left, right, { isShare: false, margin: -1, effect: 1 });
    expect(found).toMatchObject({ difference: 2, margin: -1, pEffect: null });
    // Standard error 1, t = 3, one degree of freedom: p = 1 − (2/π) · atan 3.
    expect(found.p).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(3), 6);
  });

  it("weighs arms by their factors, seed by seed", () => {
    const known = (...bySeed: number[]): MeasuredArm => ({ bySeed, byQuestion: null });
    // .5 · 10 − 3 and .5 · 14 − 3: 2 and 4.
    const found = compareMeasured(known(10, 14), known(3, 3), {
      isShare: false,
      factors: [0.5, 1],
    });
    expect(found.difference).toBe(3);
    expect(found.ci95?.[0]).toBeCloseTo(3 - 12.7062, 3);
  });

  it("calls an arm that is worse by just the margin no worse in at most 2.5 % of the cases", () => {
    const draw = random(3).derive("margin");
    const [cases, margin] = [2000, -0.05];
    let shown = 0;
    for (let i = 0; i < cases; i++) {
      const questions = Array.from({ length: 60 }, () => 0.5 + 0.2 * draw.normal());
      const seeds = Array.from({ length: 5 }, () => 0.02 * draw.normal());
      const noisy = (effect: number): MeasuredArm => {
        const byQuestion = seeds.map((seed) =>
          questions.map((each) => each + effect * (1 + seed) + 0.1 * draw.normal()),
        );
        const bySeed = byQuestion.map((row) => row.reduce((sum, each) => sum + each, 0) / 60);
        return { bySeed, byQuestion };
      };
      const { difference, p } = compareMeasured(noisy(margin), noisy(0), {
        isShare: false,
        margin,
      });
      const verdict = verdictOf({ difference, margin, pHolm: p, isIdentical: false, room: null });
      if (verdict === "supported") shown++;
    }
    // 2.5 % and two standard errors of 2 000 cases.
    expect(shown / cases).toBeLessThan(0.032);
  });
});

describe("equalityOf", () => {
  it.each([
    [0.01, false, "different"],
    [0.2, false, "no difference"],
    [null, false, "undecided"],
    [null, true, "identical arms"],
  ] as const)("of p %s, identical %s is %s", (p, isIdentical, verdict) => {
    expect(equalityOf(p, isIdentical)).toBe(verdict);
  });
});

describe("armInterval", () => {
  it("stays between 0 and 1, with width where every answer is right", () => {
    const [low, high] = armInterval(arm("11111111", "11111111"), SHARE) ?? [];
    // Two right and two wrong pseudo-questions: 10 of 12, standard error √(.1515 / 12), t(11) = 2.201.
    expect(low).toBeCloseTo(10 / 12 - 2.201 * Math.sqrt(0.151515 / 12), 3);
    expect(high).toBe(1);
    expect(armInterval(arm("1".repeat(20), "0".repeat(20)), SHARE)).toEqual([0, 1]);
  });
});

describe("roomlessness", () => {
  const half = arm("10".repeat(50), "01".repeat(50));
  const all = arm("1".repeat(100), "1".repeat(100));
  const none = arm("0".repeat(100), "0".repeat(100));
  it("names the ceiling and the floor, and neither where a difference could show", () => {
    expect(roomlessness(all, all, {})).toBe("ceiling");
    expect(roomlessness(none, none, {})).toBe("floor");
    expect(roomlessness(half, half, {})).toBeNull();
    expect(roomlessness(0.9, all, {})).toBe("ceiling");
  });

  it("leaves room at the ceiling for being no worse, and at half for being .6 better none", () => {
    expect(roomlessness(all, all, { margin: -0.1 })).toBeNull();
    expect(roomlessness(half, half, { margin: 0.6 })).toBe("ceiling");
  });
});

describe("verdictOf", () => {
  const open = { isIdentical: false, room: null } as const;
  it.each([
    [{ ...open, difference: 0.1, pHolm: 0.01 }, "supported"],
    [{ ...open, difference: -0.1, pHolm: 0.01 }, "reversed"],
    [{ ...open, difference: 0.1, pHolm: 0.06 }, "undecided"],
    [{ ...open, difference: 0.1, pHolm: null }, "undecided"],
    [{ ...open, difference: 0.01, pHolm: 0.6, pEffectHolm: 0.01 }, "ruled out"],
    [{ ...open, difference: 0.01, pHolm: 0.6, pEffectHolm: 0.06 }, "undecided"],
    [{ ...open, difference: 0.02, pHolm: 0.01, margin: 0.1 }, "ruled out"],
    [{ ...open, difference: -0.02, pHolm: 0.01, margin: 0.1 }, "reversed"],
    [{ ...open, difference: -0.1, pHolm: 0.01, margin: -0.02 }, "reversed"],
    [
      { ...open, difference: 0, pHolm: 1, pEffectHolm: 0.01, room: "ceiling" as const },
      "not able to show",
    ],
    [{ ...open, difference: 0, pHolm: 1, room: "ceiling" as const }, "not able to show"],
    [{ ...open, difference: -0.1, pHolm: 0.01, room: "floor" as const }, "reversed"],
    [{ ...open, difference: 0, pHolm: null, isIdentical: true }, "identical arms"],
  ])("of %j is %s", (test, expected) => {
    expect(verdictOf(test)).toBe(expected);
  });
});

describe("combinedVerdict", () => {
  it("needs all to support; one that refutes decides", () => {
    expect(combinedVerdict(["supported", "supported"])).toBe("supported");
    expect(combinedVerdict(["supported", "undecided"])).toBe("undecided");
    expect(combinedVerdict(["undecided", "reversed"])).toBe("reversed");
    expect(combinedVerdict(["supported", "not able to show"])).toBe("not able to show");
  });
});

describe("correctedPs", () => {
  it("corrects over the tests that were made", () => {
    expect(correctedPs([0.01, null, 0.04])).toEqual([0.02, null, 0.04]);
  });
});

/**
 * Share of simulated reproductions whose interval holds the true difference. Both arms meet the same questions (difficulty shared) and each
 * seed of an arm has its own shift.
 */
function coverage({
  seeds,
  questions,
  spread,
  difficulty,
  cases,
  seed,
}: Record<"seeds" | "questions" | "spread" | "difficulty" | "cases" | "seed", number>): number {
  const draw = random(seed);
  const right = (logit: number): number => 1 / (1 + Math.exp(-logit));
  const levels = [0.5, 0] as const;
  const width = Math.hypot(spread, difficulty);
  // The normal's mean by its quantiles: a grid of the logistic over ±6 deviations.
  const grid = Array.from({ length: 2401 }, (_, i) => -6 + i / 200);
  const weights = grid.map((z) => Math.exp((-z * z) / 2));
  const total = weights.reduce((sum, each) => sum + each, 0);
  const [high, low] = levels.map(
    (level) =>
      grid.reduce((sum, z, i) => sum + (weights[i] ?? 0) * right(level + width * z), 0) / total,
  );
  const truth = (high ?? 0) - (low ?? 0);
  let covered = 0;
  for (let c = 0; c < cases; c++) {
    const hardness = Array.from({ length: questions }, () => difficulty * draw.normal());
    const [left, other] = levels.map((level) => {
      const byQuestion = Array.from({ length: seeds }, () => {
        const shift = level + spread * draw.normal();
        return hardness.map((each) => Number(draw.next() < right(shift + each)));
      });
      const bySeed = byQuestion.map((row) => row.reduce((sum, each) => sum + each, 0) / questions);
      return { bySeed, byQuestion };
    });
    const [from, to] = compareMeasured(left ?? arm(), other ?? 0, SHARE).ci95 ?? [1, 0];
    covered += Number(from <= truth && truth <= to);
  }
  return covered / cases;
}
