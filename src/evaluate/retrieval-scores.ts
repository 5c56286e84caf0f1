import { sha256 } from "../base/files.ts";
import { mean } from "../base/statistics.ts";
import type { Qrels } from "../data/qrels.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import {
  DEFAULT_RETRIEVAL_METRICS,
  type RetrievalMetric,
  rankingMetrics,
  retrievalMetric,
} from "./retrieval-metrics.ts";
import { type RetrievalQuery, type RetrievalRun, searchRun } from "./retrieval-sets.ts";
import {
  type Corrected,
  type Interval,
  type PairedTest,
  bootstrapInterval,
  corrected,
  testPairs,
} from "./statistics.ts";

/** Scores of a ranking on a test set. */
export interface RetrievalScores {
  /** Queries with at least one relevant passage; the others are not counted. */
  n: number;
  /** Means over those queries; a query that was not ranked counts 0. */
  metrics: Record<string, number>;
  intervals: Record<string, Interval>;
  /** The same by number of hops ("2-hop"), if the queries are questions with known hops. */
  groups: { hops: Record<string, RetrievalGroup> };
  perQuery: QueryScores[];
  /** Retriever or run, queries, judgements and depth: scores with different fingerprints are not comparable. */
  fingerprint: string;
}

type RetrievalGroup = { n: number; metrics: Record<string, number> };

/** One query's metrics. */
export type QueryScores = { id: string; metrics: Record<string, number> };

type RetrievalMeasurement = { metrics?: readonly RetrievalMetric[]; seed?: number };

/** Hits per query for metrics without a cutoff: TREC's depth. */
const FULL_DEPTH = 1000;

/** Hits per query that the metrics need: the deepest cutoff; 1000 if a metric has none. */
export function depthOf(metrics: readonly RetrievalMetric[]): number {
  return Math.max(1, ...metrics.map(({ cutoff }) => cutoff ?? FULL_DEPTH));
}

/** The queries with a relevant passage, in order. */
export function judgedQueries(queries: readonly RetrievalQuery[], qrels: Qrels): RetrievalQuery[] {
  return queries.filter(({ id }) =>
    [...(qrels.get(id)?.values() ?? [])].some((relevance) => relevance > 0),
  );
}

/** Scores a retriever on queries with judgements, in the order of its hits. @returns `n` 0 and metrics NaN if no query is left. */
export async function evaluateRetrieval(
  retriever: Retriever,
  queries: readonly RetrievalQuery[],
  qrels: Qrels,
  options: RetrievalMeasurement & {
    depth?: number;
    signal?: AbortSignal;
    onProgress?: (queries: number) => void;
  } = {},
): Promise<RetrievalScores & { run: RetrievalRun }> {
  const { metrics = defaultMetrics(), seed = 0, depth = depthOf(metrics) } = options;
  const judged = judgedQueries(queries, qrels);
  const run = await searchRun(retriever, judged, depth, options);
  const fingerprint = fingerprintOf(retriever.fingerprint, depth, judged, qrels);
  return { ...scored(run, judged, qrels, { metrics, seed }), fingerprint, run };
}

/** Scores a ranking from a file; queries that the run lacks count 0. */
export function scoreRun(
  run: RetrievalRun,
  queries: readonly RetrievalQuery[],
  qrels: Qrels,
  { metrics = defaultMetrics(), seed = 0 }: RetrievalMeasurement = {},
): RetrievalScores {
  const judged = judgedQueries(queries, qrels);
  const depth = Math.max(0, ...judged.map(({ id }) => run.get(id)?.length ?? 0));
  const ranking = judged.map(({ id }) => (run.get(id) ?? []).map((hit) => hit.id));
  const source = `run-${sha256(JSON.stringify(ranking)).slice(0, 16)}`;
  const fingerprint = fingerprintOf(source, depth, judged, qrels);
  return { ...scored(run, judged, qrels, { metrics, seed }), fingerprint };
}

function scored(
  run: RetrievalRun,
  judged: readonly RetrievalQuery[],
  qrels: Qrels,
  { metrics, seed }: Required<RetrievalMeasurement>,
): Omit<RetrievalScores, "fingerprint"> {
  const perQuery = judged.map(({ id }): QueryScores => {
    const ids = (run.get(id) ?? []).map((hit) => hit.id);
    return { id, metrics: rankingMetrics(ids, qrels.get(id) ?? new Map(), metrics) };
  });
  const intervals = metrics.map(({ name }) => {
    const values = valuesOf(perQuery, name);
    return [name, bootstrapInterval(values, { seed })] as const;
  });
  return {
    n: perQuery.length,
    metrics: meansOf(perQuery, metrics),
    intervals: Object.fromEntries(intervals),
    groups: { hops: byHops(judged, perQuery, metrics) },
    perQuery,
  };
}

function valuesOf(perQuery: readonly QueryScores[], metric: string): number[] {
  return perQuery.map(({ metrics }) => metrics[metric] ?? Number.NaN);
}

function meansOf(
  perQuery: readonly QueryScores[],
  metrics: readonly RetrievalMetric[],
): Record<string, number> {
  return Object.fromEntries(metrics.map(({ name }) => [name, mean(valuesOf(perQuery, name))]));
}

function byHops(
  judged: readonly RetrievalQuery[],
  perQuery: readonly QueryScores[],
  metrics: readonly RetrievalMetric[],
): Record<string, RetrievalGroup> {
  const groups = new Map<number, QueryScores[]>();
  for (const [i, { task }] of judged.entries()) {
    const own = perQuery[i];
    const hops = task?.annotations.hops;
    if (hops !== undefined && own !== undefined)
      groups.set(hops, [...(groups.get(hops) ?? []), own]);
  }
  const sorted = [...groups].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    sorted.map(([hops, own]) => [`${hops}-hop`, { n: own.length, metrics: meansOf(own, metrics) }]),
  );
}

function defaultMetrics(): RetrievalMetric[] {
  return DEFAULT_RETRIEVAL_METRICS.map((name) => retrievalMetric(name, "default"));
}

function fingerprintOf(
  source: string,
  depth: number,
  judged: readonly RetrievalQuery[],
  qrels: Qrels,
): string {
  const judgements = judged.map(({ id, text }) => [id, text, ...(qrels.get(id) ?? [])]);
  return `retrieval-${sha256(JSON.stringify([source, depth, judgements])).slice(0, 16)}`;
}

/** One metric of two runs on the same queries. */
export interface MetricComparison extends PairedTest, Corrected {
  metric: string;
}

/** Compares two runs (queries in one order) metric by metric, with Holm's correction. @param options.draws permutations; 10 000 by default. */
export function compareRetrieval(
  left: readonly QueryScores[],
  right: readonly QueryScores[],
  metrics: readonly string[],
  options: { seed: number; draws?: number },
): MetricComparison[] {
  const tests = metrics.map((metric) => ({
    metric,
    ...testPairs(valuesOf(left, metric), valuesOf(right, metric), options),
  }));
  return corrected(tests);
}
