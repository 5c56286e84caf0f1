import { sha256 } from "../base/files.ts";
import type { Retriever } from "../retrieval/retriever.ts";

/** A query of a retrieval test set. */
export interface RetrievalQuery {
  id: string;
  text: string;
}

/** Query id → passage id → relevance; above 0 is relevant. */
export type Qrels = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Names of the metrics, as results spell them. */
export const RETRIEVAL_METRICS = ["ndcg@10", "recall@10", "recall@100", "mrr@10", "hit@5"] as const;

/** One of the names. */
export type RetrievalMetric = (typeof RETRIEVAL_METRICS)[number];

/** What a retriever reaches on a test set. */
export interface RetrievalScores {
  /** Queries with at least one relevant passage; the others are not counted. */
  n: number;
  /** Means over those queries. */
  metrics: Record<RetrievalMetric, number>;
  perQuery: { id: string; metrics: Record<RetrievalMetric, number> }[];
  /** Retriever, queries, judgements and depth: scores with unlike ones are not comparable. */
  fingerprint: string;
}

/** Hits asked for per query: what the deepest metric looks at. */
const DEPTH = 100;

/** Queries per call of the retriever. */
const BATCH = 64;

/**
 * Scores a retriever on queries with relevance judgements.
 *
 * @param queries those without a relevant passage in `qrels` are skipped.
 * @returns `n` 0 and metrics NaN when none is left.
 */
export async function evaluateRetrieval(
  retriever: Retriever,
  queries: readonly RetrievalQuery[],
  qrels: Qrels,
  options: { signal?: AbortSignal; onProgress?: (queries: number) => void } = {},
): Promise<RetrievalScores> {
  const judged = queries.filter(({ id }) =>
    [...(qrels.get(id)?.values() ?? [])].some((relevance) => relevance > 0),
  );
  const perQuery: RetrievalScores["perQuery"] = [];
  for (let at = 0; at < judged.length; at += BATCH) {
    const batch = judged.slice(at, at + BATCH);
    const texts = batch.map(({ text }) => text);
    const { signal } = options;
    const results = await retriever.search(texts, DEPTH, signal === undefined ? {} : { signal });
    for (const [i, { id }] of batch.entries()) {
      const ids = (results[i] ?? []).map((hit) => hit.id);
      perQuery.push({ id, metrics: rankingMetrics(ids, qrels.get(id) ?? new Map()) });
    }
    options.onProgress?.(perQuery.length);
  }
  const means = RETRIEVAL_METRICS.map((name) => {
    const sum = perQuery.reduce((total, { metrics }) => total + metrics[name], 0);
    return [name, sum / perQuery.length] as const;
  });
  return {
    n: perQuery.length,
    metrics: Object.fromEntries(means) as Record<RetrievalMetric, number>,
    perQuery,
    fingerprint: fingerprintOf(retriever, judged, qrels),
  };
}

/**
 * The metrics of one ranking, as trec_eval defines them: gain is the relevance itself, discount log2(rank + 1), and
 * the ideal ranking holds all judged passages. mrr is 1 / rank of the first relevant passage; hit is 1 if there is one.
 *
 * @param ids retrieved passages, best first.
 * @param relevances at least one above 0.
 * @example rankingMetrics(["x", "y"], new Map([["y", 1]])) // ndcg@10 = 1 / log2(3) = .6309, mrr@10 = .5
 */
export function rankingMetrics(
  ids: readonly string[],
  relevances: ReadonlyMap<string, number>,
): Record<RetrievalMetric, number> {
  const gains = ids.map((id) => Math.max(0, relevances.get(id) ?? 0));
  const ideal = [...relevances.values()].filter((gain) => gain > 0).sort((a, b) => b - a);
  const found = (k: number): number => gains.slice(0, k).filter((gain) => gain > 0).length;
  const first = gains.slice(0, 10).findIndex((gain) => gain > 0);
  return {
    "ndcg@10": discounted(gains.slice(0, 10)) / discounted(ideal.slice(0, 10)),
    "recall@10": found(10) / ideal.length,
    "recall@100": found(100) / ideal.length,
    "mrr@10": first === -1 ? 0 : 1 / (first + 1),
    "hit@5": found(5) > 0 ? 1 : 0,
  };
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);
}

function fingerprintOf(
  retriever: Retriever,
  judged: readonly RetrievalQuery[],
  qrels: Qrels,
): string {
  const judgements = judged.map(({ id, text }) => [id, text, ...(qrels.get(id) ?? [])]);
  return `retrieval-${sha256(JSON.stringify([retriever.fingerprint, DEPTH, judgements])).slice(0, 16)}`;
}
