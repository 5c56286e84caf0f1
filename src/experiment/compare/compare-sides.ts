import { mean, standardError } from "../../base/statistics.ts";
import {
  type Corrected,
  type Interval,
  type PairedTest,
  corrected,
  testPairs,
} from "../../evaluate/statistics.ts";
import { type ArmComparison, type SeededValue, compareArms } from "../arm-comparison.ts";
import type { ComparedRun, Side } from "./compared-run.ts";
import {
  type Agreement,
  agreementOf,
  crossedBootstrap,
  mcnemarExact,
  pairedEffect,
  shareEffect,
  smallestDetectable,
} from "./paired.ts";
import { type SharedValues, sharedValues } from "./shared-questions.ts";

/** One metric of two sides on the questions that they share. */
export interface MetricTest extends PairedTest {
  metric: string;
  /** Questions that have the metric on both sides. */
  n: number;
  /** Standard error of each side's mean over questions. */
  leftError: number | null;
  rightError: number | null;
  /** Standard error of the difference: over pairs of questions, and also over runs if there are several. */
  standardError: number | null;
  /** Difference in units of the deviation of the questions' differences (dz). */
  effect: number | null;
  /** Cohen's h of two shares; null if a value is not 0 or 1. */
  shareEffect: number | null;
  /** The smallest true difference that the test finds with a probability of .8. */
  smallestDetectable: number | null;
  /** Only for single runs with one draw per question and a metric of 0 or 1; else null. */
  agreement: Agreement | null;
  /** Exact p of McNemar's test on `agreement`. */
  mcnemar: number | null;
  /** Test between the runs' means, if a side has several; its p is about other seeds. */
  runs: ArmComparison | null;
}

export interface MetricResult extends MetricTest, Corrected {}

/** Figures of a group of questions: a post-hoc look, so without a verdict. */
export interface GroupDifference {
  n: number;
  left: number;
  right: number;
  difference: number;
  /** null below five questions: too few to resample. */
  ci95: Interval | null;
}

/** Fewest questions for a bootstrap. */
const FEWEST_RESAMPLED = 5;

/** Options of every test. */
export interface TestOptions {
  seed: number;
}

/**
 * Tests one metric of two sides.
 *
 * The interval resamples questions in pairs, draws averaged first; with several runs on a side it resamples runs as well
 * (`crossedBootstrap`). p comes from a permutation test over questions, on the means over runs.
 *
 * @returns null when no question has the metric on both sides.
 */
export function testMetric(
  [left, right]: readonly [Side, Side],
  ids: readonly string[],
  metric: string,
  options: TestOptions,
): MetricTest | null {
  const values = sharedValues(left, right, ids, metric);
  const n = values.ids.length;
  if (n === 0) return null;
  const [a, b] = [meanOverRuns(values.left), meanOverRuns(values.right)];
  const differences = a.map((value, i) => value - (b[i] ?? Number.NaN));
  const several = values.left.length > 1 || values.right.length > 1;
  const crossed = several ? crossedBootstrap(values.left, values.right, options) : null;
  const error = crossed?.standardError ?? standardError(differences);
  const binary = [...values.left, ...values.right].every((run) => run.every(isVerdict));
  const agreement = binary && !several ? agreementOf(a, b) : null;
  return {
    metric,
    n,
    ...testPairs(a, b, options),
    ...(crossed === null ? {} : { ci95: crossed.ci95 }),
    leftError: finite(standardError(a)),
    rightError: finite(standardError(b)),
    standardError: finite(error),
    effect: pairedEffect(differences),
    shareEffect: binary ? shareEffect(mean(a), mean(b)) : null,
    smallestDetectable: error > 0 && n > 1 ? smallestDetectable(error, n - 1) : null,
    agreement,
    mcnemar: agreement === null ? null : mcnemarExact(agreement),
    runs: several ? compareRuns(left, right, values) : null,
  };
}

/**
 * Holm's correction over all tests of a comparison, and their verdicts. With several runs, "higher" and "lower" also need an interval
 * without 0, because only the interval covers runs.
 */
export function withVerdicts(tests: readonly MetricTest[]): MetricResult[] {
  return corrected(tests).map((test) => {
    const [low, high] = test.ci95;
    const open = test.runs !== null && low <= 0 && high >= 0;
    return open ? { ...test, verdict: "no difference shown" } : test;
  });
}

/** The difference on the questions of each group, by the left side's first run. */
export function groupDifferences(
  [left, right]: readonly [Side, Side],
  ids: readonly string[],
  { metric, by, seed }: TestOptions & { metric: string; by: "hops" | "type" },
): Record<string, GroupDifference> {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const name = left.runs[0]?.questions.get(id)?.[by];
    if (name === undefined) continue;
    const own = groups.get(name);
    if (own === undefined) groups.set(name, [id]);
    else own.push(id);
  }
  const sorted = [...groups].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  return Object.fromEntries(
    sorted.flatMap(([name, own]) => {
      const test = testMetric([left, right], own, metric, { seed });
      if (test === null) return [];
      const { n, left: ours, right: theirs, difference, ci95 } = test;
      const interval = n < FEWEST_RESAMPLED ? null : ci95;
      return [[name, { n, left: ours, right: theirs, difference, ci95: interval }]];
    }),
  );
}

/** [R][n] → [n] */
export function meanOverRuns(runs: readonly (readonly number[])[]): number[] {
  return (runs[0] ?? []).map((_, i) => mean(runs.map((run) => run[i] ?? Number.NaN)));
}

function compareRuns(left: Side, right: Side, values: SharedValues): ArmComparison {
  return compareArms(
    seeded(left.runs, values.left, "left"),
    seeded(right.runs, values.right, "right"),
  );
}

/** Means of runs by seed; if seeds are unknown or repeated, by numbers that pair with no other run. */
function seeded(
  runs: readonly ComparedRun[],
  values: readonly (readonly number[])[],
  side: "left" | "right",
): SeededValue[] {
  const seeds = runs.map(({ facts }) => facts.seed);
  const known = new Set(seeds).size === seeds.length && !seeds.includes(undefined);
  return values.map((run, i) => {
    const unpaired = side === "left" ? -1 - 2 * i : -2 - 2 * i;
    return { seed: known ? (seeds[i] ?? unpaired) : unpaired, value: mean(run) };
  });
}

function isVerdict(value: number): boolean {
  return value === 0 || value === 1;
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
