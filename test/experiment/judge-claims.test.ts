import { describe, expect, it } from "vitest";
import type { MeasuredRun } from "../../src/experiment/claims/kept-measures.ts";
import { judgeClaims } from "../../src/experiment/judge-claims.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";

const TWO_ARMS = `
summary: two arms
base: {}
tiers: { mini: {} }
claims:
  tests:
    - id: test
      statement: a against b.
      metric: METRIC
      relation: RELATION
      source: none
      arms: [{ name: a }, { name: b, replicate: 1 }]
`;

/** Values by arm, or by arm and metric; a bound is written as text. */
type Values = Record<string, readonly (number | string)[]>;

const { settings } = await resolveRecipe("search-r1", { tier: "mini" });

const judge = (relation: string, values: Values, { metric = "steps", role = "claim" } = {}) => {
  const text = TWO_ARMS.replace("METRIC", metric)
    .replace("RELATION", JSON.stringify(relation))
    .replace("- id: test", `- id: test\n      role: ${role}`);
  const recipe = parseRecipe(text, "two.yaml");
  const runsOf = (_: unknown, arm: string, of: string): MeasuredRun[] =>
    (values[`${arm} ${of}`] ?? values[arm] ?? []).map((value, i): MeasuredRun => ({
      key: `${arm}${i}`,
      seed: i + 1,
      questions: null,
      dataset: "d",
      model: "m",
      value: Number(value),
      isBound: typeof value === "string",
      draws: 1,
    }));
  const [result] = judgeClaims(
    recipe,
    { tier: "mini", levelOf: () => 0.05 },
    runsOf,
    () => settings,
  );
  if (result === undefined) throw new Error("no result");
  return result;
};

describe("judgeClaims", () => {
  it("tests no worse by a margin by the interval of the difference", () => {
    // Differences −1, 0, 1: mean 0, standard error 1/√3, t(2) = 4.3027: ± 2.484.
    const values = { a: [9, 10, 11], b: [10, 10, 10] };
    const [wide] = judge("a >= b - 3", values).comparisons;
    expect(wide).toMatchObject({ verdict: "supported", difference: 0, margin: -3 });
    expect(wide?.ci95?.[0]).toBeCloseTo(-2.484, 3);
    expect(judge("a >= b - 2", values).verdict).toBe("undecided");
    expect(judge("a > b + 3", values).verdict).toBe("reversed");
  });

  it("tests a ratio of another metric, and < by the sides as they are written", () => {
    const values = {
      "a tokens": [1],
      "a wallSeconds": [60, 70, 65],
      "b wallSeconds": [100, 120, 113],
    };
    const result = judge("wallSeconds(a) <= 0.7 * wallSeconds(b)", {
      ...values,
      a: [1, 1, 1],
      b: [1, 1, 1],
    });
    // 60 − 70, 70 − 84, 65 − 79.1
    const [test] = result.comparisons;
    expect(test).toMatchObject({
      left: "wallSeconds(a)",
      relation: "<=",
      right: "0.7 * wallSeconds(b)",
      verdict: "supported",
    });
    expect(test?.difference).toBeCloseTo(-(10 + 14 + 14.1) / 3, 10);
    expect(test?.ci95?.[1]).toBeLessThan(0);
  });

  it("lets a verdict rest on bounds only where they cannot turn it round", () => {
    const metric = "curve.rollout/reward_mean.stepsTo(0.6)";
    // b ended at step 40 without reaching it: b is slower still.
    const slow = { a: [10, 11, 12], b: ["40", "40", 39] };
    const found = judge("a < b", slow, { metric });
    expect(found).toMatchObject({ verdict: "supported", arms: [{ bounds: 0 }, { bounds: 2 }] });
    // The same, claimed the other way round: refuted, since b can only be slower.
    expect(judge("a > b", slow, { metric }).verdict).toBe("reversed");
    // Where the larger values belong to the other arm, the bound says nothing.
    const open = judge("a < b", { a: ["20", "20", 19], b: [39, 40, 41] }, { metric });
    expect(open).toMatchObject({ verdict: "undecided", comparisons: [{ isOpenEnded: true }] });
  });

  it("gives equal arms verdicts of their own, without Holm's correction", () => {
    const role = "equal-arms";
    const same = judge("a = b", { a: [1, 2, 3], b: [2, 1, 3] }, { role });
    expect(same).toMatchObject({ verdict: "no difference", role });
    const apart = judge("a = b", { a: [9, 9, 9.1], b: [1, 2, 1] }, { role });
    expect(apart.verdict).toBe("different");
    const [test] = apart.comparisons;
    expect(test?.pHolm).toBe(test?.p);
  });

  it("says which difference these runs would have found", () => {
    const [test] = judge("a > b", { a: [9, 10, 11], b: [10, 10, 10] }).comparisons;
    // (4.3027 + 1.0607) / √3
    expect(test?.detectable).toBeCloseTo(3.0965, 3);
  });
});
