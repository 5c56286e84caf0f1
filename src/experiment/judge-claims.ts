import { mean } from "../base/statistics.ts";
import type { ArmResult, ClaimResult, ComparisonResult } from "./claims/claim-results.ts";
import {
  armInterval,
  combinedVerdict,
  correctedPs,
  equalityOf,
  LEAST_EFFECT,
  type MeasuredArm,
  PRIOR_DRAWS,
  SHARE_PRIOR,
  type Verdict,
  verdictOf,
} from "./claims/claim-test.ts";
import { detectableDifference } from "./claims/power.ts";
import type { MeasuredRun } from "./claims/kept-measures.ts";
import { comparisons, findCells } from "../run/claims.ts";
import type { Arm, Claim, RecipeFile, Tier } from "../run/settings/recipe-schema.ts";
import { isShareMetric } from "../run/claims/claim-metric.ts";
import { parseCurveMetric } from "../run/claims/curve-metric.ts";
import type { RelationPart, RelationSide } from "../run/claims/relation.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { inequalities, kindOf } from "./claim-kind.ts";
import { testSides, turned } from "./test-sides.ts";
import { claimHead } from "./claim-settings.ts";

/** Runs of a claim's arm with one of the claim's metrics, in the order of the seeds. */
export type RunsOf = (claim: Claim, arm: string, metric: string) => readonly MeasuredRun[];

/**
 * What the runs say of every claim, tested at the level of its look. p values are corrected over all comparisons of claims (Holm). Positive
 * controls and equal arms are no part of the family: they test the instrument, each on its own. Tier smoke tests nothing.
 */
export function judgeClaims(
  recipe: RecipeFile,
  { tier, levelOf }: { tier: Tier; levelOf: (claim: string) => number },
  runsOf: RunsOf,
  settingsOf: (claim: Claim, arm: string) => Settings,
): ClaimResult[] {
  const tested = recipe.claims.tests.map((claim) => testClaim(claim, runsOf, levelOf(claim.id)));
  const inFamily = tested
    .filter(({ claim }) => claim.role === "claim")
    .flatMap(({ tests }) => tests);
  const corrected = (of: "p" | "pEffect") => {
    const ps = correctedPs(inFamily.map((test) => test[of]));
    return new Map(inFamily.map((test, i) => [test, ps[i] ?? null]));
  };
  const [holm, holmEffect] = [corrected("p"), corrected("pEffect")];
  const family = Math.max(1, inFamily.filter(({ p }) => p !== null).length);
  return tested.map(({ claim, tests, ids }): ClaimResult => {
    const isAlone = claim.role !== "claim";
    const level = levelOf(claim.id);
    const compared = tests.map((tested): ComparisonResult => {
      const { isIdentical, verdictAt, ...test } = tested;
      const pHolm = isAlone ? test.p : (holm.get(tested) ?? null);
      const pEffectHolm = isAlone ? test.pEffect : (holmEffect.get(tested) ?? null);
      const verdict = tier === "smoke" ? "not tested" : verdictAt(pHolm, pEffectHolm);
      return {
        ...test,
        pHolm,
        pEffectHolm,
        verdict,
        room: verdict === "not able to show" ? test.room : null,
        detectable: isIdentical
          ? null
          : detectableDifference(test.error, isAlone ? level : level / family),
      };
    });
    const { metric } = claim;
    const settings = (arm: string): Settings => settingsOf(claim, arm);
    const size = effectOf(claim, isShareMetric(metric));
    return {
      ...claimHead(claim),
      kind: kindOf(claim, settings),
      effect: size === null ? null : { size, reason: claim.effect?.reason ?? "default of shares" },
      unequal: inequalities(claim, settings),
      level,
      instrument: null,
      verdict: combinedVerdict(compared.map(({ verdict }) => verdict)),
      questions: ids?.length ?? null,
      isShare: isShareMetric(metric),
      comparisons: compared,
      curves: shownCurves(claim),
      arms: claim.arms.map((arm) => {
        const runs = runsOf(claim, arm.name, metric);
        return armResult(recipe, arm, { runs, ids, isShare: isShareMetric(metric) });
      }),
    };
  });
}

/** Every arm with every metric that a claim compares. */
export function claimMeasures(claim: Claim): { arm: string; metric: string }[] {
  const own = claim.arms.map(({ name }) => ({ arm: name, metric: claim.metric }));
  const sides = comparisons(claim).flatMap(({ left, right }) => [left, right]);
  const others = sides.flatMap(({ arm, metric }) =>
    arm === null || metric === null || metric === claim.metric ? [] : [{ arm, metric }],
  );
  return [...own, ...others];
}

/** The curves that a claim names, and the one that its metric is a figure of. */
function shownCurves({ metric, curves = [] }: Claim): string[] {
  const judged = parseCurveMetric(metric, (sentence) => new Error(`${metric} ${sentence}`));
  const own = judged === null || !judged.of.includes("/") ? [] : [judged.of];
  return [...new Set([...own, ...curves])];
}

/** A comparison before the correction over all of them. */
type Test = Omit<ComparisonResult, "pHolm" | "pEffectHolm" | "verdict" | "detectable"> & {
  isIdentical: boolean;
  verdictAt: (pHolm: number | null, pEffectHolm: number | null) => Verdict;
};

function testClaim(claim: Claim, runsOf: RunsOf, level: number) {
  const runs = ({ arm, metric }: { arm: string | null; metric: string | null }) =>
    arm === null ? [] : runsOf(claim, arm, metric ?? claim.metric);
  const ids = sharedIds(claimMeasures(claim).flatMap(runs));
  const tests = comparisons(claim).map((part) => testPart(part, { claim, level, ids, runs }));
  return { claim, tests, ids };
}

function testPart(
  { left, relation, right }: RelationPart,
  {
    claim,
    level,
    ids,
    runs,
  }: {
    claim: Claim;
    level: number;
    ids: readonly string[] | null;
    runs: (side: RelationSide) => readonly MeasuredRun[];
  },
): Test {
  const isFlipped = relation.startsWith("<");
  // What is claimed to be the greater side.
  const [greater, lesser] = isFlipped ? [right, left] : [left, right];
  const isShare = [greater, lesser].every(
    ({ arm, metric }) => arm === null || isShareMetric(metric ?? claim.metric),
  );
  const compared = [...runs(greater), ...runs(lesser)];
  // Where nothing is random, seeds do not vary.
  const varies = [greater, lesser].some((side) => !isConstant(runs(side)));
  const { room, ...test } = testSides(greater, lesser, {
    isShare,
    level,
    effect: effectOf(claim, isShare),
    prior:
      isShare && compared.every(({ draws }) => draws >= PRIOR_DRAWS) && varies ? SHARE_PRIOR : null,
    measuredOf: (side) => (side.arm === null ? null : measuredArm(runs(side), ids)),
  });
  const isIdentical =
    greater.arm !== null &&
    lesser.arm !== null &&
    greater.metric === lesser.metric &&
    areIdentical(runs(greater), runs(lesser));
  // Arms that cannot differ are no test.
  const [p, pEffect] = isIdentical ? [null, null] : [test.p, test.pEffect];
  const { difference, margin } = test;
  // The larger the true value behind a bound, the less sure is a difference in the other side's favour.
  const isOpenEnded = runs(difference > margin ? lesser : greater).some(({ isBound }) => isBound);
  const sided = isFlipped ? turned(test) : test;
  return {
    left: left.text,
    relation,
    right: right.text,
    ...sided,
    p,
    pEffect,
    room,
    isShare,
    isIdentical,
    isOpenEnded,
    ci95: isIdentical ? null : sided.ci95,
    verdictAt: (pHolm, pEffectHolm) => {
      if (claim.role === "equal-arms") return equalityOf(p, isIdentical, level);
      const of = { difference, margin, pHolm, pEffectHolm, isIdentical, room, level };
      const verdict = verdictOf(of);
      const isDecided = ["supported", "reversed", "ruled out"].includes(verdict);
      return isDecided && isOpenEnded ? "undecided" : verdict;
    },
  };
}

/** The smallest effect of interest of a claim: what it declares, for shares .05; null where there is none to rule out. */
function effectOf({ effect, role }: Claim, isShare: boolean): number | null {
  if (role === "equal-arms") return null;
  return effect?.size ?? (isShare ? LEAST_EFFECT : null);
}

function armResult(
  recipe: RecipeFile,
  { name, paperCell }: Arm,
  measured: { runs: readonly MeasuredRun[]; ids: readonly string[] | null; isShare: boolean },
): ArmResult {
  const { runs, ids, isShare } = measured;
  const [paper = null] = paperCell === undefined ? [] : findCells(recipe.paperTables, paperCell);
  const values = runs.map(({ value }) => value);
  return {
    name,
    mean: mean(values),
    ci95: armInterval(measuredArm(runs, ids), { isShare }),
    values,
    seeds: runs.map(({ seed }) => seed),
    bounds: runs.filter(({ isBound }) => isBound).length,
    isSameForAllSeeds: isConstant(runs),
    dataset: runs[0]?.dataset ?? "",
    model: runs[0]?.model ?? "",
    paper,
  };
}

/** Whether every seed gave the same answers: nothing in the arm is random. */
function isConstant(runs: readonly MeasuredRun[]): boolean {
  const outcomes = new Set(runs.map(({ questions }) => questions?.outcome));
  return runs.length > 1 && outcomes.size === 1 && !outcomes.has(undefined);
}

/** Equal settings, or for every seed the same answers and searches: nothing tells the arms apart. */
function areIdentical(left: readonly MeasuredRun[], right: readonly MeasuredRun[]): boolean {
  return left.every((run, i) => {
    const other = right[i];
    if (run.key === other?.key) return true;
    return run.questions !== null && run.questions.outcome === other?.questions?.outcome;
  });
}

/** Questions that every run has; null where some run's are not known. */
function sharedIds(runs: readonly MeasuredRun[]): string[] | null {
  const known = runs.flatMap(({ questions }) => questions?.values ?? []);
  const [first] = known;
  if (first === undefined || known.length < runs.length) return null;
  const ids = [...first.keys()].filter((id) => known.every((values) => values.has(id)));
  return ids.length === 0 ? null : ids;
}

function measuredArm(runs: readonly MeasuredRun[], ids: readonly string[] | null): MeasuredArm {
  return {
    bySeed: runs.map(({ value }) => value),
    byQuestion:
      ids === null
        ? null
        : runs.map(({ questions }) => ids.map((id) => questions?.values.get(id) ?? Number.NaN)),
  };
}
