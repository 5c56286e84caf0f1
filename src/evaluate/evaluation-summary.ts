import { formatScore, plural } from "../base/format.ts";
import { mean } from "../base/statistics.ts";
import type { EndReason } from "../trajectory/trajectory.ts";
import type { EvaluationRow } from "./evaluation-row.ts";
import { majorityRight, passCounts } from "./metrics/draw-metrics.ts";
import { rowMetrics } from "./metrics/index.ts";
import {
  type IntervalValues,
  type MetricSeries,
  openMetricSeries,
} from "./metrics/metric-columns.ts";
import {
  type MetricSums,
  type MetricValues,
  type QuestionValues,
  openMetricSums,
} from "./metrics/metric-sums.ts";
import type { Interval } from "./statistics.ts";

export interface EvaluationSummary {
  n: number;
  samplesPerTask: number;
  /** Rows that ended in an error: not measured, and in no other number here but `ends`. */
  errors: EvaluationErrors;
  metrics: MetricValues;
  metricCounts: Record<string, number>;
  intervals: IntervalValues<Interval>;
  /** Wilson's score interval for shares of single draws, else a bootstrap over questions. */
  intervalMethods: IntervalValues<"wilson" | "bootstrap">;
  /** Calibration of the confidences, over draws; absent if no answer has one. */
  calibration?: Calibration;
  /** The same by number of hops ("2-hop") and by the dataset's question types, if it has them. */
  groups: { hops: Record<string, GroupSummary>; type: Record<string, GroupSummary> };
  ends: Partial<Record<EndReason, number>>;
}

/** Failures of an evaluation. */
export interface EvaluationErrors {
  n: number;
  /** Rows by the error's code, in the order of codes. */
  byCode: Record<string, number>;
  /** Means over all questions, failed draws counted as wrong; absent if no row failed. */
  asWrong?: { n: number; em: number; f1: number };
}

export type GroupSummary = { n: number; metrics: MetricValues };

/** Names of the metrics that an evaluation with this number of draws per question can have. */
export function metricNames(samplesPerTask: number): string[] {
  const k = samplesPerTask;
  const passes = passCounts(k).map((tries) => `pass@${tries}`);
  const drawn = k > 1 ? [`avg@${k}`, ...passes, `majority@${k}`, `potential@${k}`] : [];
  return [...rowMetrics.names, ...drawn];
}

/** Builds a summary from rows as they come. */
export interface SummaryAccumulator {
  /** Adds the next row; rows of one question must be adjacent. Only numbers are kept of earlier questions. */
  add(row: EvaluationRow): void;
  summary(): EvaluationSummary;
}

/** Opens a summary of rows that need not be in memory together. @param options.seed of the bootstrap. */
export function openSummary({ seed }: { seed: number }): SummaryAccumulator {
  const tally: Tally = {
    all: openMetricSums(),
    groups: { hops: new Map(), type: new Map() },
    series: openMetricSeries(),
    confident: [],
    errors: new Map(),
    asWrong: { n: 0, em: 0, f1: 0 },
    ends: new Map(),
    samplesPerTask: 0,
    question: null,
  };
  return {
    add(row) {
      if (tally.question?.id !== row.id) {
        closeQuestion(tally);
        const { id, hops, type } = row;
        tally.question = { id, hops, type, asked: 0, measured: [] };
      }
      addRow(tally, tally.question, row);
    },
    summary() {
      closeQuestion(tally);
      return summaryOf(tally, seed);
    },
  };
}

/** The summary of rows, those of one question adjacent. @param options.seed of the bootstrap. */
export function summarizeRows(
  rows: Iterable<EvaluationRow>,
  options: { seed: number },
): EvaluationSummary {
  const accumulator = openSummary(options);
  for (const row of rows) accumulator.add(row);
  return accumulator.summary();
}

interface Tally {
  readonly all: MetricSums;
  readonly groups: Record<"hops" | "type", Map<string, MetricSums>>;
  readonly series: MetricSeries;
  readonly confident: Confident[];
  readonly errors: Map<string, number>;
  readonly asWrong: { n: number; em: number; f1: number };
  readonly ends: Map<EndReason, number>;
  samplesPerTask: number;
  question: OpenQuestion | null;
}

interface OpenQuestion {
  readonly id: string;
  readonly hops: number | undefined;
  readonly type: string | undefined;
  asked: number;
  readonly measured: EvaluationRow[];
}

function addRow(tally: Tally, question: OpenQuestion, row: EvaluationRow): void {
  const { end, error, confidence } = row;
  question.asked += 1;
  count(tally.ends, end);
  if (error !== undefined) {
    count(tally.errors, error.code);
    return;
  }
  question.measured.push(row);
  if (confidence !== undefined) tally.confident.push({ confidence, right: row.em === 1 });
}

function closeQuestion(tally: Tally): void {
  const { question, groups } = tally;
  if (question === null) return;
  tally.question = null;
  tally.samplesPerTask = Math.max(tally.samplesPerTask, question.asked);
  tally.asWrong.n += 1;
  for (const { em, f1 } of question.measured) {
    tally.asWrong.em += em / question.asked;
    tally.asWrong.f1 += f1 / question.asked;
  }
  if (question.measured.length === 0) return;
  const values = questionValues(question.measured);
  tally.all.add(values);
  tally.series.add(values);
  const { hops, type } = question;
  if (hops !== undefined) groupOf(groups.hops, `${hops}-hop`).add(values);
  if (type !== undefined) groupOf(groups.type, type).add(values);
}

function questionValues(draws: readonly EvaluationRow[]): QuestionValues {
  const meanOf = (valueOf: (row: EvaluationRow) => number | null | undefined): number =>
    mean(draws.flatMap((row) => valueOf(row) ?? []));
  const means = Float64Array.from(rowMetrics.parts, (metric) => meanOf((row) => metric.of(row)));
  const names = new Set(draws.flatMap((row) => Object.keys(row.metrics ?? {})));
  const own = new Map([...names].map((name) => [name, meanOf((row) => row.metrics?.[name])]));
  const right = draws.filter(({ em }) => em === 1).length;
  return { means, own, draws: draws.length, right, majority: majorityRight(draws) };
}

function summaryOf(tally: Tally, seed: number): EvaluationSummary {
  const { all, series, confident, samplesPerTask, groups } = tally;
  return {
    n: all.n,
    samplesPerTask,
    errors: errorsOf(tally),
    metrics: all.values(samplesPerTask),
    metricCounts: all.counts(),
    ...series.intervals({ seed, singleDraws: samplesPerTask <= 1 }),
    calibration: confident.length === 0 ? undefined : calibrationOf(confident),
    groups: {
      hops: groupSummaries(groups.hops, samplesPerTask),
      type: groupSummaries(groups.type, samplesPerTask),
    },
    ends: Object.fromEntries(tally.ends),
  };
}

function errorsOf({ errors, asWrong: { n, em, f1 } }: Tally): EvaluationErrors {
  const wrong = errors.size === 0 ? {} : { asWrong: { n, em: em / n, f1: f1 / n } };
  return {
    n: [...errors.values()].reduce((sum, each) => sum + each, 0),
    byCode: Object.fromEntries([...errors].sort(([a], [b]) => (a < b ? -1 : 1))),
    ...wrong,
  };
}

/** What stands beside the means of an evaluation in which rows failed; empty where none did. */
export function failuresText({ n, asWrong }: EvaluationErrors): string {
  if (n === 0) return "";
  const failed = `${plural(n, "draw")} failed: not measured`;
  if (asWrong === undefined) return failed;
  const [em, f1] = [asWrong.em, asWrong.f1].map(formatScore);
  return `${failed}; with failures counted as wrong, over ${plural(asWrong.n, "question")}: EM ${em}, F1 ${f1}`;
}

function groupOf(groups: Map<string, MetricSums>, name: string): MetricSums {
  const group = groups.get(name) ?? openMetricSums();
  groups.set(name, group);
  return group;
}

function groupSummaries(
  groups: ReadonlyMap<string, MetricSums>,
  draws: number,
): Record<string, GroupSummary> {
  const byName = [...groups].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  return Object.fromEntries(
    byName.map(([name, sums]) => [name, { n: sums.n, metrics: sums.values(draws) }]),
  );
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Agreement of confidences with outcomes. */

type Confident = { confidence: number; right: boolean };

interface Calibration {
  n: number;
  /** Expected calibration error over ten bins of equal width, the last one closed: 0 is best. */
  ece: number;
  /** Mean squared difference of confidence and outcome: 0 is best; a constant confidence of 0.5 gives 0.25. */
  brier: number;
  /** Probability that a right answer has a higher confidence than a wrong one, ties count half; null without both. */
  auroc: number | null;
}

const BINS = 10;

/**
 * Of at least one answer. Sources: Guo et al., arXiv 1706.04599, section 2 (ECE: mean over bins of |mean outcome − mean confidence|, weighted
 * by size); Brier (1950), the form for two outcomes; AUROC as the rank statistic of Mann and Whitney (1947).
 * @example calibrationOf([{ confidence: 0.9, right: true }, { confidence: 0.6, right: false }]) // ece 0.35, brier 0.185, auroc 1
 */
export function calibrationOf(answers: readonly Confident[]): Calibration {
  const n = answers.length;
  const bins = Array.from({ length: BINS }, () => ({ confidence: 0, right: 0 }));
  let brier = 0;
  for (const { confidence, right } of answers) {
    const bin = bins[Math.min(BINS - 1, Math.floor(confidence * BINS))];
    if (bin === undefined) continue;
    bin.confidence += confidence;
    bin.right += Number(right);
    brier += (confidence - Number(right)) ** 2;
  }
  const gaps = bins.reduce((sum, bin) => sum + Math.abs(bin.right - bin.confidence), 0);
  return { n, ece: gaps / n, brier: brier / n, auroc: auroc(answers) };
}

function auroc(answers: readonly Confident[]): number | null {
  const sorted = [...answers].sort((a, b) => a.confidence - b.confidence);
  const rights = sorted.filter(({ right }) => right).length;
  const wrongs = sorted.length - rights;
  if (rights === 0 || wrongs === 0) return null;
  let rankSum = 0;
  for (let from = 0; from < sorted.length;) {
    let to = from;
    while (to < sorted.length && sorted[to]?.confidence === sorted[from]?.confidence) to += 1;
    // Answers of equal confidence share the mean of their ranks, counted from 1.
    const rank = (from + 1 + to) / 2;
    rankSum += rank * sorted.slice(from, to).filter(({ right }) => right).length;
    from = to;
  }
  return (rankSum - (rights * (rights + 1)) / 2) / (rights * wrongs);
}
