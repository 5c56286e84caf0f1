import {
  type ArmTest,
  armInterval,
  combinedVerdict,
  compareMeasured,
  correctedPs,
  type MeasuredArm,
  roomlessness,
  type TestOptions,
  verdictOf,
} from "../evaluate/claims/claim-test.ts";
import { isShare } from "../evaluate/metrics/metric-columns.ts";
import { mean } from "../base/statistics.ts";
import type { ArmQuestions } from "./arm-questions.ts";
import type { ArmResult, ClaimResult, ComparisonResult } from "../evaluate/claims/claim-results.ts";
import { comparisons, findCells, lastKey } from "./claims.ts";
import type { Claim, RecipeFile, Tier } from "./settings/recipe-schema.ts";

/** One run of an arm, as measured. */
export interface MeasuredRun {
  /** Equal keys: the same run. */
  key: string;
  seed: number;
  value: number;
  questions: ArmQuestions | null;
  /** What was measured: names of the held-out dataset and of the policy. */
  dataset: string;
  model: string;
}

/** Runs of a claim's arm, in the order of the seeds. */
export type RunsOf = (claim: Claim, arm: string) => readonly MeasuredRun[];

/** What the runs say of every claim, tested at a look's level. p values are corrected over all comparisons (Holm). Tier smoke tests nothing. */
export function judgeClaims(
  recipe: RecipeFile,
  { tier, level }: { tier: Tier; level: number },
  runsOf: RunsOf,
): ClaimResult[] {
  const tested = recipe.claims.tests.map((claim) => testClaim(claim, runsOf, level));
  const ps = correctedPs(tested.flatMap(({ tests }) => tests.map(({ p }) => p)));
  let next = 0;
  return tested.map(({ claim, tests, measured, ids }) => {
    const compared = tests.map(({ isIdentical, ...test }): ComparisonResult => {
      const pHolm = ps[next++] ?? null;
      const verdict =
        tier === "smoke" ? "not tested" : verdictOf({ ...test, pHolm, isIdentical, level });
      return { ...test, pHolm, verdict, room: verdict === "not able to show" ? test.room : null };
    });
    const { id, statement, metric, relation, source } = claim;
    return {
      ...{ id, statement, metric, relation, source },
      verdict: combinedVerdict(compared.map(({ verdict }) => verdict)),
      questions: ids?.length ?? null,
      isShare: shareOf(claim),
      comparisons: compared,
      arms: claim.arms.map((arm) =>
        armResult(recipe, claim, arm, runsOf(claim, arm.name), measured(arm.name)),
      ),
    };
  });
}

type Test = Omit<ComparisonResult, "pHolm" | "verdict"> & { isIdentical: boolean };

function testClaim(claim: Claim, runsOf: RunsOf, level: number) {
  const ids = sharedIds(claim.arms.flatMap(({ name }) => runsOf(claim, name)));
  const measured = (name: string): MeasuredArm => measuredArm(runsOf(claim, name), ids);
  const options = { isShare: shareOf(claim), level };
  const tests = comparisons(claim).map((comparison): Test => {
    const [left, right] = [comparison.left, comparison.right].map((side) =>
      typeof side === "number" ? side : measured(side),
    ) as [MeasuredArm | number, MeasuredArm | number];
    const isIdentical =
      typeof comparison.left === "string" &&
      typeof comparison.right === "string" &&
      areIdentical(runsOf(claim, comparison.left), runsOf(claim, comparison.right));
    const { p, ...test } = compareOperands(left, right, options);
    return {
      ...comparison,
      ...test,
      // Arms that cannot differ are no test.
      p: isIdentical ? null : p,
      ...(isIdentical ? { ci95: null } : {}),
      room: options.isShare ? roomlessness(left, right, level) : null,
      isIdentical,
    };
  });
  return { claim, tests, measured, ids };
}

function armResult(
  recipe: RecipeFile,
  claim: Claim,
  { name, paperCell }: Claim["arms"][number],
  runs: readonly MeasuredRun[],
  measured: MeasuredArm,
): ArmResult {
  const [paper = null] = paperCell === undefined ? [] : findCells(recipe.paperTables, paperCell);
  const outcomes = new Set(runs.map(({ questions }) => questions?.outcome));
  const values = runs.map(({ value }) => value);
  return {
    name,
    mean: mean(values),
    ci95: armInterval(measured, { isShare: shareOf(claim) }),
    values,
    seeds: runs.map(({ seed }) => seed),
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

/** `0.2 > arm` is `arm` minus 0.2 with the other sign. */
function compareOperands(
  left: MeasuredArm | number,
  right: MeasuredArm | number,
  options: TestOptions,
): ArmTest {
  if (typeof left !== "number") return compareMeasured(left, right, options);
  const arm = typeof right === "number" ? { bySeed: [right], byQuestion: null } : right;
  const { difference, ci95, ...test } = compareMeasured(arm, left, options);
  return { ...test, difference: -difference, ci95: ci95 === null ? null : [-ci95[1], -ci95[0]] };
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

function shareOf({ metric }: Claim): boolean {
  return isShare(lastKey(metric));
}
