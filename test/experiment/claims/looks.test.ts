import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { compareMeasured, verdictOf } from "../../../src/experiment/claims/claim-test.ts";
import {
  chanceOfAnswer,
  fixedSeeds,
  isPromising,
  LEAST_CHANCE,
  SEEDS_BY_RULE,
  type SeedPlan,
} from "../../../src/experiment/claims/looks.ts";

const draw = random(1).derive("looks");

/** One claim under a plan: two arms whose difference varies by 1 from seed to seed. */
function decide(effect: number, plan: SeedPlan): { verdict: string; seeds: number } {
  const bySeed: number[] = [];
  for (const seeds of plan.looks) {
    while (bySeed.length < seeds) bySeed.push(effect + draw.normal());
    const { level } = plan;
    const test = compareMeasured({ bySeed, byQuestion: null }, 0, { isShare: false, level });
    const { difference, p: pHolm } = test;
    const verdict = verdictOf({ difference, pHolm, isIdentical: false, room: null, level });
    if (verdict !== "inconclusive" || !isPromising({ ...test, seeds }, plan))
      return { verdict, seeds };
  }
  return { verdict: "inconclusive", seeds: plan.seeds.length };
}

/** Shares of claims by verdict, and mean number of seeds. */
function simulate(effect: number, plan: SeedPlan, claims: number) {
  const decided = Array.from({ length: claims }, () => decide(effect, plan));
  const share = (verdict: string): number =>
    decided.filter((each) => each.verdict === verdict).length / claims;
  const seeds = decided.reduce((sum, each) => sum + each.seeds, 0) / claims;
  return { right: share("supported"), wrong: share("not supported"), seeds };
}

describe("seeds by rule", () => {
  it("decides a claim without an effect in at most 5 % of the cases, after few seeds", () => {
    const { right, wrong, seeds } = simulate(0, SEEDS_BY_RULE, 6000);
    // 5 % and two standard errors of 6 000 cases.
    expect(right + wrong).toBeLessThan(0.0556);
    expect(seeds).toBeLessThan(4.5);
  });

  /** The table of docs/reproducing.md: effect in deviations of the difference from seed to seed. */
  it.each([
    { effect: 1, power: 0.47, seeds: 5.8 },
    { effect: 1.5, power: 0.82, seeds: 5.9 },
    { effect: 2, power: 0.97, seeds: 5.4 },
    { effect: 3, power: 1, seeds: 4.3 },
    { effect: 5, power: 1, seeds: 3.5 },
  ])("finds an effect of $effect with power $power", ({ effect, power, seeds }) => {
    const found = simulate(effect, SEEDS_BY_RULE, 1500);
    expect(found.right).toBeCloseTo(power, 1);
    expect(Math.abs(found.seeds - seeds)).toBeLessThan(0.3);
    expect(found.wrong).toBeLessThan(0.01);
  });

  it("finds more than three fixed seeds, with the whole level at their only look", () => {
    expect(fixedSeeds([1, 2, 3])).toMatchObject({ looks: [3], level: 0.05 });
    expect(simulate(2, fixedSeeds([1, 2, 3]), 1500).right).toBeLessThan(0.5);
  });
});

describe("chanceOfAnswer", () => {
  const seen = (t: number, seeds = 3) => ({
    difference: t * 0.1,
    seeds,
    errors: { seeds: 0.1, questions: null },
  });

  it("rises with the measured difference, either way", () => {
    // Eight seeds need 3.1276 · .1 · √(3/8) = .1915; their mean deviates by .1 · √(5/8) = .0791: t(2) = 2.42, both sides.
    expect(chanceOfAnswer(seen(0), SEEDS_BY_RULE)).toBeCloseTo(0.136, 2);
    expect(chanceOfAnswer(seen(3), SEEDS_BY_RULE)).toBeGreaterThan(0.8);
    expect(chanceOfAnswer(seen(-3), SEEDS_BY_RULE)).toBe(chanceOfAnswer(seen(3), SEEDS_BY_RULE));
    expect(LEAST_CHANCE).toBeGreaterThan(0.14);
  });

  it("is low where the questions are too few, and 0 at the last look and for seeds that agree", () => {
    const few = { ...seen(3), errors: { seeds: 0.1, questions: { error: 0.2, degrees: 40 } } };
    expect(chanceOfAnswer(few, SEEDS_BY_RULE)).toBeLessThan(0.2);
    expect(chanceOfAnswer(seen(3, 8), SEEDS_BY_RULE)).toBe(0);
    const agreeing = { difference: 1, seeds: 3, errors: { seeds: null, questions: null } };
    expect(chanceOfAnswer(agreeing, SEEDS_BY_RULE)).toBe(0);
  });
});
