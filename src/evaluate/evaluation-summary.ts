import type { EndReason } from "../trajectory/trajectory.ts";
import type { EvaluationRow } from "./evaluation-row.ts";
import { bootstrapInterval, type Interval, mean, wilsonInterval } from "./statistics.ts";

/** Means over rows; each name is a key of results. */
export const EVALUATION_METRICS = {
  em: ({ em }) => em,
  f1: ({ f1 }) => f1,
  cover_em: (row) => row.cover_em,
  /** Searches per question. */
  searches: ({ searches }) => searches,
  /** Share of questions that got an answer. */
  answer_rate: ({ answer }) => Number(answer !== null),
  /** Share of trajectories all of whose messages parsed. */
  format_rate: ({ formatOk }) => Number(formatOk),
  /** Messages per question. */
  turns: ({ turns }) => turns,
  /** Tokens written per question. */
  completion_tokens: ({ tokens }) => tokens,
} satisfies Record<string, (row: EvaluationRow) => number>;

export type EvaluationMetric = keyof typeof EVALUATION_METRICS;

/** By metric; with k draws per question also `avg@k` and `pass@1`, `pass@2`, `pass@4`, … `pass@k`. */
export type MetricValues = Record<EvaluationMetric, number> &
  Record<`${"avg" | "pass"}@${number}`, number>;

/** Metrics with a 95 % interval over questions. */
const WITH_INTERVAL = ["em", "f1", "cover_em"] as const;

/** Names of the metrics of an evaluation with so many draws per question. */
export function metricNames(samplesPerTask: number): string[] {
  const drawn = samplesPerTask > 1 ? [`avg@${samplesPerTask}`] : [];
  const passes = passCounts(samplesPerTask).map((k) => `pass@${k}`);
  return [...Object.keys(EVALUATION_METRICS), ...drawn, ...passes];
}

export interface EvaluationSummary {
  /** Questions. */
  n: number;
  samplesPerTask: number;
  /** Rows that ended in an error; they count as wrong. */
  errors: number;
  metrics: MetricValues;
  intervals: Record<(typeof WITH_INTERVAL)[number], Interval>;
  /** Wilson's score interval for shares of single draws, else a bootstrap over questions. */
  intervalMethods: Record<(typeof WITH_INTERVAL)[number], "wilson" | "bootstrap">;
  /** The same by number of hops ("2-hop") and by the dataset's own question types, where it says them. */
  groups: { hops: Record<string, GroupSummary>; type: Record<string, GroupSummary> };
  /** Rows by how they ended. */
  ends: Partial<Record<EndReason, number>>;
}

export interface GroupSummary {
  n: number;
  metrics: MetricValues;
}

/**
 * Everything that rows say.
 *
 * @param rows of at least one question, the same number of draws each; order does not matter but for the bootstrap's seed.
 * @param options.seed of the bootstrap.
 */
export function summarizeRows(
  rows: readonly EvaluationRow[],
  { seed }: { seed: number },
): EvaluationSummary {
  const questions = groupBy(rows, ({ id }) => id);
  const samplesPerTask = Math.max(0, ...[...questions.values()].map((draws) => draws.length));
  const intervals = {} as EvaluationSummary["intervals"];
  const intervalMethods = {} as EvaluationSummary["intervalMethods"];
  for (const metric of WITH_INTERVAL) {
    const values = [...questions.values()].map((draws) => mean(draws.map((row) => row[metric])));
    const isShare = metric !== "f1" && samplesPerTask === 1;
    intervalMethods[metric] = isShare ? "wilson" : "bootstrap";
    intervals[metric] = isShare
      ? wilsonInterval(values.filter((value) => value === 1).length, values.length)
      : bootstrapInterval(values, { seed });
  }
  return {
    n: questions.size,
    samplesPerTask,
    errors: rows.filter(({ error }) => error !== undefined).length,
    metrics: metricsOf(rows),
    intervals,
    intervalMethods,
    groups: {
      hops: groupsOf(rows, ({ hops }) => (hops === undefined ? undefined : `${hops}-hop`)),
      type: groupsOf(rows, ({ type }) => type),
    },
    ends: Object.fromEntries(
      [...groupBy(rows, ({ end }) => end)].map(([end, of]) => [end, of.length]),
    ),
  };
}

/**
 * Unbiased estimate of the chance that one of k draws is right, from n draws of which c are: 1 − C(n−c, k) / C(n, k).
 *
 * Source: Chen et al., arXiv 2107.03374, section 2.1; as a product, which does not overflow.
 *
 * @param k at most n.
 * @example passAtK(4, 1, 2) // 1 − C(3, 2) / C(4, 2) = 0.5
 */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let allWrong = 1;
  for (let i = n - c + 1; i <= n; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}

function metricsOf(rows: readonly EvaluationRow[]): MetricValues {
  const entries = Object.entries(EVALUATION_METRICS).map(([name, of]) => [
    name,
    mean(rows.map(of)),
  ]);
  const means = Object.fromEntries(entries) as MetricValues;
  const questions = [...groupBy(rows, ({ id }) => id).values()];
  const draws = Math.max(0, ...questions.map((each) => each.length));
  if (draws > 1) means[`avg@${draws}`] = means.em;
  for (const k of passCounts(draws)) {
    means[`pass@${k}`] = mean(
      questions.map((each) => passAtK(each.length, each.filter(({ em }) => em === 1).length, k)),
    );
  }
  return means;
}

/** Powers of two up to the number of draws, and that number itself; none for one draw. */
function passCounts(draws: number): number[] {
  const counts: number[] = [];
  for (let k = 1; draws > 1 && k < draws; k *= 2) counts.push(k);
  return draws > 1 ? [...counts, draws] : [];
}

function groupsOf(
  rows: readonly EvaluationRow[],
  nameOf: (row: EvaluationRow) => string | undefined,
): Record<string, GroupSummary> {
  const named = rows.filter((row) => nameOf(row) !== undefined);
  const groups = [...groupBy(named, (row) => nameOf(row) ?? "")];
  const sorted = groups.sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  return Object.fromEntries(
    sorted.map(([name, own]) => {
      const n = new Set(own.map(({ id }) => id)).size;
      return [name, { n, metrics: metricsOf(own) }];
    }),
  );
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
