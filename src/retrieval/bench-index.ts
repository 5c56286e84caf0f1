import { formatDuration } from "../base/format.ts";
import { setImmediate } from "node:timers/promises";
import type { Retriever } from "./retriever.ts";

export interface BenchOptions {
  /** At least one; used repeatedly, in this order. */
  queries: readonly string[];
  /** Hits per query. */
  k: number;
  /** For both measurements together. A warm-up of at most half of it comes first. */
  seconds: number;
  signal?: AbortSignal | undefined;
  /** @param seconds so far, including the warm-up. */
  onProgress?: (seconds: number) => void;
}

export interface RetrieverSpeed {
  queriesPerSecond: number;
  batch: number;
  /** Latency of a single query: median and 99th percentile. */
  p50Ms: number;
  p99Ms: number;
  /** Timed queries, single and in batches. */
  timed: number;
  seconds: number;
}

/** Queries of one call when throughput is measured. */
const BATCH = 64;

/**
 * Measures a retriever with warm caches: first single queries, then batches, half of the time each.
 * Wall-clock time of this process, which includes other load on the machine.
 */
export async function benchRetriever(
  retriever: Retriever,
  { queries, k, seconds, signal, onProgress }: BenchOptions,
): Promise<RetrieverSpeed> {
  const options = signal === undefined ? {} : { signal };
  const start = performance.now();
  let told = 0;
  const elapsed = (since: number): number => (performance.now() - since) / 1000;
  const search = async (batch: readonly string[]): Promise<number> => {
    const begin = performance.now();
    await retriever.search(batch, k, options);
    const ms = performance.now() - begin;
    if (elapsed(start) - told > 0.2) {
      told = elapsed(start);
      onProgress?.(told);
      // Let the progress bar and Ctrl-C run, because a search in memory never yields.
      await setImmediate();
    }
    signal?.throwIfAborted();
    return ms;
  };
  for (let i = 0; i < queries.length && elapsed(start) < seconds / 2; i++)
    await search([queries[i]!]);
  const alone: number[] = [];
  const aloneBegin = performance.now();
  while (alone.length === 0 || elapsed(aloneBegin) < seconds / 2)
    alone.push(await search([queries[alone.length % queries.length]!]));
  let batches = 0;
  let spent = 0;
  while (batches === 0 || spent < 500 * seconds) {
    spent += await search(batchOf(queries, batches * BATCH));
    batches += 1;
  }
  alone.sort((x, y) => x - y);
  return {
    queriesPerSecond: (1000 * batches * BATCH) / spent,
    batch: BATCH,
    p50Ms: percentile(alone, 0.5),
    p99Ms: percentile(alone, 0.99),
    timed: alone.length + batches * BATCH,
    seconds: elapsed(start),
  };
}

function batchOf(queries: readonly string[], from: number): string[] {
  return Array.from({ length: BATCH }, (_, i) => queries[(from + i) % queries.length]!);
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

interface ScoredId {
  id: string;
  score: number;
}

/**
 * Share of the k best hits that were found, over all queries. A hit whose score equals that of the worst of the k best counts
 * as one of them: ties are no loss.
 *
 * @param found per query.
 * @param exact per query, best first, at least k if there are so many.
 * @returns null when there was nothing to find.
 */
export function recallOf(
  found: readonly (readonly ScoredId[])[],
  exact: readonly (readonly ScoredId[])[],
  k: number,
): number | null {
  let wanted = 0;
  let held = 0;
  exact.forEach((all, i) => {
    const best = all.slice(0, k);
    const worst = best.at(-1)?.score ?? Infinity;
    const right = new Map(all.map(({ id, score }) => [id, score]));
    const isRight = ({ id }: ScoredId): boolean => (right.get(id) ?? -Infinity) >= worst - 1e-9;
    wanted += best.length;
    held += Math.min(best.length, found[i]!.slice(0, k).filter(isRight).length);
  });
  return wanted === 0 ? null : held / wanted;
}

/** Rollouts per training batch: the maximum in the recipes. */
const ROLLOUTS = 256;

/**
 * A warning about a speed that is too low for rollouts: in every turn, all rollouts of a batch search at once and wait.
 * @returns null when 256 searches take less than a second.
 */
export function rolloutWarning({
  queriesPerSecond,
}: Pick<RetrieverSpeed, "queriesPerSecond">): string | null {
  const seconds = ROLLOUTS / queriesPerSecond;
  if (seconds <= 1) return null;
  return `a batch of ${ROLLOUTS} rollouts waits ${formatDuration(seconds)} for its searches in every turn; aim for less than 1 s`;
}
