import { mean } from "../base/statistics.ts";
import type { ArmResult, ClaimResult, ComparisonResult } from "./claims/claim-results.ts";
import {
  armInterval,
  combinedVerdict,
  correctedPs,
  equalityOf,
  type MeasuredArm,
  type Verdict,
  verdictOf,
} from "./claims/claim-test.ts";
import { detectableDifference } from "./claims/power.ts";
import type { ArmQuestions } from "./arm-questions.ts";
import { comparisons, findCells } from "../run/claims.ts";
import type { Arm, Claim, RecipeFile, Tier } from "../run/settings/recipe-schema.ts";
import { isShareMetric } from "../run/claims/claim-metric.ts";
import { parseCurveMetric } from "../run/claims/curve-metric.ts";
import type { RelationPart, RelationSide } from "../run/claims/relation.ts";
import { testSides, turned } from "./test-sides.ts";

/** One run of an arm, as measured. */
export interface MeasuredRun {
  /** Equal keys: the same run. */
  key: string;
  seed: number;
  value: number;
  /** The run ended before it happened: the true value is larger. */
  isBound: boolean;
  questions: ArmQuestions | null;
  /** What was measured: names of the held-out dataset and of the policy. */
  dataset: string;
  model: string;
}

/** Runs of a claim's arm with one of the claim's metrics, in the order of the seeds. */
export type RunsOf = (claim: Claim, arm: string, metric: string) => readonly MeasuredRun[];

/**
 * What the runs say of every claim, tested at a look's level. p values are corrected over all comparisons (Holm) but those of equal arms,
 * which test the instrument and not the method. Tier smoke tests nothing.
 */
export function judgeClaims(
  recipe: RecipeFile,
  { tier, level }: { tier: Tier; level: number },
  runsOf: RunsOf,
): ClaimResult[] {
  const tested = recipe.claims.tests.map((claim) => testClaim(claim, runsOf, level));
  const inFamily = tested.filter(({ claim }) => claim.role !== "equal-arms");
  const ps = correctedPs(inFamily.flatMap(({ tests }) => tests.map(({ p }) => p)));
  const family = Math.max(1, ps.filter((p) => p !== null).length);
  let next = 0;
  return tested.map(({ claim, tests, ids }): ClaimResult => {
    const isEqualArms = claim.role === "equal-arms";
    const compared = tests.map(({ isIdentical, verdictAt, seeds, ...test }): ComparisonResult => {
      const pHolm = isEqualArms ? test.p : (ps[next++] ?? null);
      const verdict = tier === "smoke" ? "not tested" : verdictAt(pHolm);
      const ownLevel = isEqualArms ? level : level / family;
      return {
        ...test,
        pHolm,
        verdict,
        room: verdict === "not able to show" ? test.room : null,
        detectable: isIdentical ? null : detectableDifference(test.errors, seeds, ownLevel),
      };
    });
    const { id, statement, role, metric, relation, source } = claim;
    return {
      id,
      statement,
      role,
      metric,
      relation,
      source,
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
type Test = Omit<ComparisonResult, "pHolm" | "verdict" | "detectable"> & {
  isIdentical: boolean;
  seeds: number;
  verdictAt: (pHolm: number | null) => Verdict;
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
  const { room, ...test } = testSides(greater, lesser, {
    isShare,
    level,
    measuredOf: (side) => (side.arm === null ? null : measuredArm(runs(side), ids)),
  });
  const isIdentical =
    greater.arm !== null &&
    lesser.arm !== null &&
    greater.metric === lesser.metric &&
    areIdentical(runs(greater), runs(lesser));
  // Arms that cannot differ are no test.
  const p = isIdentical ? null : test.p;
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
    room,
    isIdentical,
    isOpenEnded,
    ci95: isIdentical ? null : sided.ci95,
    seeds: Math.max(runs(greater).length, runs(lesser).length),
    verdictAt: (pHolm) => {
      if (claim.role === "equal-arms") return equalityOf(p, isIdentical, level);
      const verdict = verdictOf({ difference, margin, pHolm, isIdentical, room, level });
      const isDecided = verdict === "supported" || verdict === "not supported";
      return isDecided && isOpenEnded ? "inconclusive" : verdict;
    },
  };
}

function armResult(
  recipe: RecipeFile,
  { name, paperCell }: Arm,
  measured: { runs: readonly MeasuredRun[]; ids: readonly string[] | null; isShare: boolean },
): ArmResult {
  const { runs, ids, isShare } = measured;
  const [paper = null] = paperCell === undefined ? [] : findCells(recipe.paperTables, paperCell);
  const outcomes = new Set(runs.map(({ questions }) => questions?.outcome));
  const values = runs.map(({ value }) => value);
  return {
    name,
    mean: mean(values),
    ci95: armInterval(measuredArm(runs, ids), { isShare }),
    values,
    seeds: runs.map(({ seed }) => seed),
    bounds: runs.filter(({ isBound }) => isBound).length,
    isSameForAllSeeds: runs.length > 1 && outcomes.size === 1 && !outcomes.has(undefined),
    dataset: runs[0]?.dataset ?? "",
    model: runs[0]?.model ?? "",
    paper,
  };
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
