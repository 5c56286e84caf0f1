import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { MeasuredRun } from "../../../src/experiment/claims/kept-measures.ts";
import { SEEDS_BY_RULE } from "../../../src/experiment/claims/looks.ts";
import { judgeClaims } from "../../../src/experiment/judge-claims.ts";
import { parseRecipe } from "../../../src/run/settings/recipe-file.ts";
import { resolveRecipe } from "../../../src/run/settings/resolve-recipe.ts";

/*
 * The whole procedure on simulated reproductions: a family of claims, each of two arms on the same 300 questions with four draws, looked at
 * after three, five and eight seeds. A question has a chance to be answered right, uniform in .02 … .98; each arm moves it by a normal of
 * .4 logits of its own, each training by another .4, and each training moves all questions of its arm together by `spread` / √2, so that
 * the difference of two arms varies by `spread` from seed to seed. One draw's noise then makes up three quarters of the variance between
 * seeds of one draw, as it was measured.
 */
const [QUESTIONS, DRAWS, METHOD, TRAINING] = [300, 4, 0.4, 0.4];

const draw = random(1).derive("procedure");
const { settings } = await resolveRecipe("search-r1", { tier: "mini" });

function familyOf(claims: number) {
  const tests = Array.from(
    { length: claims },
    (_, i) => `
    - id: c${i}
      statement: a above b.
      metric: eval.after.em
      relation: a > b
      source: none
      arms: [{ name: a }, { name: b, replicate: 1 }]`,
  );
  const text = `summary: simulated\nbase: {}\ntiers: { mini: {} }\nclaims:\n  tests:${tests.join("")}\n`;
  return parseRecipe(text, "simulated.yaml");
}

/** An arm that can be trained again and again. */
function openArm(questions: readonly number[], effect: number, spread: number) {
  const own = questions.map((logit) => logit + METHOD * draw.normal());
  return (): number[] => {
    const shift = effect + (spread / Math.SQRT2) * draw.normal();
    return own.map((logit) => {
      const chance = 1 / (1 + Math.exp(-logit - TRAINING * draw.normal())) + shift;
      let right = 0;
      for (let i = 0; i < DRAWS; i++) right += Number(draw.next() < chance);
      return right / DRAWS;
    });
  };
}

/** Verdicts of one reproduction whose claims have these true effects, and the seeds that it took. */
function reproduceOnce(recipe: ReturnType<typeof familyOf>, effects: number[], spread: number) {
  const logit = (chance: number): number => Math.log(chance / (1 - chance));
  const arms = new Map<string, { train: () => number[]; runs: MeasuredRun[] }>();
  for (const [i, effect] of effects.entries()) {
    const questions = Array.from({ length: QUESTIONS }, () => logit(0.02 + 0.96 * draw.next()));
    for (const name of ["a", "b"]) {
      const train = openArm(questions, name === "a" ? effect : 0, spread);
      arms.set(`c${i}/${name}`, { train, runs: [] });
    }
  }
  const seeds = new Map(effects.map((_, i) => [`c${i}`, 3]));
  const plan = SEEDS_BY_RULE;
  for (;;) {
    const { levels, looks } = plan;
    const levelOf = (id: string): number => levels[looks.indexOf(seeds.get(id) ?? 0)] ?? 0;
    const runsOf = ({ id }: { id: string }, name: string): MeasuredRun[] => {
      const arm = arms.get(`${id}/${name}`);
      if (arm === undefined) throw new Error("no arm");
      while (arm.runs.length < (seeds.get(id) ?? 0)) {
        const values = arm.train();
        const seed = arm.runs.length + 1;
        const key = `${id}/${name}/${seed}`;
        arm.runs.push({
          ...{ key, seed, draws: DRAWS, isBound: false, dataset: "d", model: "m" },
          value: values.reduce((sum, each) => sum + each, 0) / QUESTIONS,
          questions: { values: new Map(values.map((each, q) => [`q${q}`, each])), outcome: key },
        });
      }
      return arm.runs;
    };
    const claims = judgeClaims(recipe, { tier: "mini", levelOf }, runsOf, () => settings);
    const open = claims.filter(({ id, verdict }) => verdict === "undecided" && seeds.get(id) !== 8);
    if (open.length === 0) return claims.map(({ verdict }) => verdict);
    for (const { id } of open) seeds.set(id, looks[looks.indexOf(seeds.get(id) ?? 0) + 1] ?? 8);
  }
}

/** Of many reproductions: the share with a wrong verdict, and the share of claims of each kind with each verdict. */
function simulate(effects: number[], { spread = 0.0205, cases = 200 } = {}) {
  const recipe = familyOf(effects.length);
  let wrong = 0;
  const counts = { real: {} as Record<string, number>, none: {} as Record<string, number> };
  for (let i = 0; i < cases; i++) {
    const verdicts = reproduceOnce(recipe, effects, spread);
    const isWrong = (verdict: string, c: number): boolean =>
      (effects[c] ?? 0) > 0
        ? verdict === "reversed" || verdict === "ruled out"
        : verdict === "supported" || verdict === "reversed";
    wrong += Number(verdicts.some(isWrong));
    for (const [c, verdict] of verdicts.entries()) {
      const of = counts[(effects[c] ?? 0) > 0 ? "real" : "none"];
      of[verdict] = (of[verdict] ?? 0) + 1;
    }
  }
  const real = effects.filter((effect) => effect > 0).length;
  return {
    wrong: wrong / cases,
    found: (counts.real["supported"] ?? 0) / (cases * Math.max(1, real)),
    ruledOut: (counts.none["ruled out"] ?? 0) / (cases * Math.max(1, effects.length - real)),
  };
}

/** 5 % and two standard errors of 200 cases. */
const AT_MOST = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / 200);
const none = (claims: number): number[] => Array.from({ length: claims }, () => 0);
const real = (claims: number): number[] => Array.from({ length: claims }, () => 0.05);

describe("the procedure of claims", { timeout: 600_000 }, () => {
  // As in docs/claims.md.
  it.each([1, 5, 9])(
    "decides %i claims without an effect wrongly in at most 5 of 100 cases",
    (claims) => {
      const { wrong, ruledOut } = simulate(none(claims));
      expect(wrong).toBeLessThan(0.05);
      expect(ruledOut).toBeGreaterThan(0.9);
    },
  );

  it.each([5, 9])("keeps the error rate of %i claims where seeds vary twice as much", (claims) => {
    const { wrong } = simulate(none(claims), { spread: 0.041 });
    expect(wrong).toBeLessThan(AT_MOST);
  });

  it("finds five effects of .05 with a chance of 90 %, and calls them absent in at most 5 % of the families", () => {
    const { found, wrong } = simulate(real(5));
    expect(found).toBeGreaterThan(0.9);
    expect(wrong).toBeLessThan(AT_MOST);
  });

  it("finds one effect of .05 among four claims without one in most cases", () => {
    const { found, wrong } = simulate([0.05, ...none(4)]);
    expect(found).toBeGreaterThan(0.8);
    expect(wrong).toBeLessThan(AT_MOST);
  });
});
