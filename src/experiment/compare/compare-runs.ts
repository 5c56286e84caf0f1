import { ConfigError, DataError } from "../../base/errors.ts";
import { suggest } from "../../base/nearest.ts";
import { type AnswerKind, answerKind } from "../../evaluate/metrics/answer-metrics.ts";
import {
  type GroupDifference,
  type MetricResult,
  type MetricTest,
  groupDifferences,
  meanOverRuns,
  testMetric,
  withVerdicts,
} from "./compare-sides.ts";
import { type Side, sharedMetrics } from "./compared-run.ts";
import { type ProtocolCheck, checkProtocols } from "./protocol-differences.ts";
import {
  type SharedQuestions,
  questionOf,
  sharedQuestions,
  sharedValues,
} from "./shared-questions.ts";

/** The first side against one other. */
export interface SideComparison {
  left: string;
  right: string;
  questions: Omit<SharedQuestions, "ids"> & { compared: number };
  metrics: MetricResult[];
  /** Of each metric, by number of hops and by question type, if rows have them. */
  groups: Record<"hops" | "type", Record<string, Record<string, GroupDifference>>>;
  changed: ChangedQuestion[];
}

/** The first side against every other. */
export interface Comparison {
  comparisons: SideComparison[];
  protocol: ProtocolCheck;
  /** Number of tests in Holm's correction: metrics times sides. */
  tests: number;
  /** Whether the search of some run used the questions' gold. */
  readsGold: boolean;
}

interface CompareOptions {
  /** Default: em and f1, if all runs have them. */
  metrics?: readonly string[] | undefined;
  /** Protocol parts that may differ. */
  across?: readonly string[];
  /** Only questions with answers of these kinds; default: all. */
  answers?: readonly AnswerKind[] | undefined;
  /** Seed of bootstrap and permutations. */
  seed: number;
}

const DEFAULT_METRICS = ["em", "f1"];

/**
 * Compares the first side with each of the others, on the questions that the two share.
 *
 * @param sides at least two. Differences are first minus other.
 * @throws {ConfigError} COMPARE_UNLIKE, COMPARE_METRIC when not all runs have a metric; USAGE for an unknown protocol part.
 * @throws {DataError} COMPARE_UNMATCHED
 */
export function compareRuns(sides: readonly Side[], options: CompareOptions): Comparison {
  const { across = [], seed } = options;
  const [left, ...others] = sides;
  const runs = sides.flatMap((side) => side.runs);
  if (left === undefined) return { comparisons: [], protocol: NOTHING, tests: 0, readsGold: false };
  const protocol = checkProtocols(runs, across);
  const metrics = metricsOf(sides, options.metrics);
  const begun = others.map((right) => {
    const pair = [left, right] as const;
    const { ids: shared, ...questions } = sharedQuestions(left, right);
    const ids = withAnswers(pair, shared, options.answers);
    const tests = metrics.flatMap((metric) => testMetric(pair, ids, metric, { seed }) ?? []);
    return { pair, ids, questions: { ...questions, compared: ids.length }, tests };
  });
  const results = withVerdicts(begun.flatMap(({ tests }) => tests));
  const comparisons = begun.map(({ pair, ids, questions, tests }): SideComparison => {
    const groupsBy = (by: "hops" | "type"): SideComparison["groups"]["hops"] =>
      Object.fromEntries(
        metrics.map((metric) => [metric, groupDifferences(pair, ids, { metric, by, seed })]),
      );
    return {
      left: left.name,
      right: pair[1].name,
      questions,
      metrics: results.splice(0, tests.length),
      groups: { hops: groupsBy("hops"), type: groupsBy("type") },
      changed: changedQuestions(pair, ids, metrics[0] ?? ""),
    };
  });
  const tests = countOf(begun);
  return { comparisons, protocol, tests, readsGold: runs.some(({ facts }) => facts.readsGold) };
}

/**
 * The questions whose answers are of some kinds, by the first run that has question and references.
 * @throws {DataError} COMPARE_UNMATCHED when no run has both, or none is of these kinds.
 */
function withAnswers(
  sides: readonly [Side, Side],
  ids: readonly string[],
  kinds: readonly AnswerKind[] | undefined,
): readonly string[] {
  if (kinds === undefined) return ids;
  const runs = sides.flatMap((side) => side.runs);
  const kept = ids.filter((id) => {
    const [known] = runs.flatMap((run) => {
      const { question, references } = questionOf(run, id);
      return question === null || references === null ? [] : answerKind(question, references);
    });
    return known !== undefined && kinds.includes(known);
  });
  if (kept.length > 0) return kept;
  throw new DataError(
    "COMPARE_UNMATCHED",
    `${sides[0].name} and ${sides[1].name}: of ${ids.length} shared questions none has an answer that is ${kinds.join(" or ")}. The kind is read from question and references, which rows of agentrl eval hold.`,
  );
}

const NOTHING: ProtocolCheck = { differences: [], unknown: [] };

function countOf(begun: readonly { tests: readonly MetricTest[] }[]): number {
  return begun.reduce((count, { tests }) => count + tests.length, 0);
}

function metricsOf(sides: readonly Side[], asked: readonly string[] | undefined): string[] {
  const known = sharedMetrics(sides.flatMap(({ runs }) => runs));
  const stray = asked?.find((metric) => !known.includes(metric));
  if (stray !== undefined) {
    throw new ConfigError(
      "COMPARE_METRIC",
      `--metrics names "${stray}", which not all runs have. ${suggest(stray, known)}`,
    );
  }
  const metrics = asked ?? DEFAULT_METRICS.filter((metric) => known.includes(metric));
  if (metrics.length > 0) return [...new Set(metrics)];
  throw new ConfigError(
    "COMPARE_METRIC",
    `the runs share neither em nor f1. Choose metrics with --metrics. ${suggest("", known)}`,
  );
}

/** A question on which two sides differ by a metric. */
export interface ChangedQuestion {
  id: string;
  /** gained: the left side does better than the right one; lost: worse. */
  change: "gained" | "lost";
  metric: string;
  question: string | null;
  references: readonly string[] | null;
  hops?: string;
  type?: string;
  left: SideAnswers;
  right: SideAnswers;
}

/** Result of a side on one question. */
interface SideAnswers {
  /** Mean over draws and runs. */
  value: number;
  /** Of every measured draw, run by run. */
  answers: (string | null)[];
}

/** The questions on which two sides differ, in order of their ids' appearance. */
function changedQuestions(
  [left, right]: readonly [Side, Side],
  ids: readonly string[],
  metric: string,
): ChangedQuestion[] {
  const values = sharedValues(left, right, ids, metric);
  const [a, b] = [meanOverRuns(values.left), meanOverRuns(values.right)];
  return values.ids.flatMap((id, i): ChangedQuestion[] => {
    const [ours, theirs] = [a[i] ?? 0, b[i] ?? 0];
    if (ours === theirs) return [];
    const all = [...left.runs, ...right.runs].map((run) => questionOf(run, id));
    const { hops, type } = all[0] ?? {};
    return [
      {
        id,
        change: ours > theirs ? "gained" : "lost",
        metric,
        question: all.find(({ question }) => question !== null)?.question ?? null,
        references: all.find(({ references }) => references !== null)?.references ?? null,
        hops,
        type,
        left: { value: ours, answers: answersOf(left, id) },
        right: { value: theirs, answers: answersOf(right, id) },
      },
    ];
  });
}

function answersOf({ runs }: Side, id: string): (string | null)[] {
  return runs.flatMap((run) => questionOf(run, id).draws.map(({ answer }) => answer));
}
