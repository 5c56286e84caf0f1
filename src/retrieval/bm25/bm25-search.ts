import { totalmem } from "node:os";
import { constrainedMemory } from "node:process";
import { type Scored, topK } from "../top-k.ts";
import { Accumulator } from "./accumulator.ts";
import { meanLength } from "./corpus.ts";
import { type Bm25Parameters, bm25Tables, bm25Variants } from "./formula.ts";
import { maxScore } from "./max-score.ts";
import type { SearchMemory } from "./search-memory.ts";
import type { Segment } from "./segment.ts";
import type { WeightedTerm } from "./term-cursor.ts";
import { TermPostings } from "./term-postings.ts";

/** Finds the best passages of an index for analysed queries. */
export interface Bm25Search {
  /**
   * The k best passages for a query's terms, by the formula with exact passage lengths, over all segments together as
   * if they were one and deleted passages had never been. Sums are float64, the terms ordered by weight, largest
   * first; a term that the query repeats counts as often. Passages without any of the terms are never returned.
   *
   * @throws {DataError} INDEX_CORRUPT
   */
  best(terms: readonly string[], k: number): Scored[];
  /** Passages that can be found. */
  readonly count: number;
}

/**
 * Postings are kept in memory up to this size: a sixteenth of the machine's memory (or of what this process may have), 256
 * MiB at least and 1 GiB at most. At 5·10⁶ passages the postings of common questions take about as much.
 */
export const CACHE_BYTES = Math.min(2 ** 30, Math.max(2 ** 28, memoryLimit() / 16));

function memoryLimit(): number {
  const limit = constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

export function bm25Search(
  segments: readonly Segment[],
  parameters: Bm25Parameters,
  cacheBytes = CACHE_BYTES,
): Bm25Search {
  const variant = bm25Variants.get(parameters.variant, "variant");
  const count = sumOf(segments, ({ count: all, dead }) => all - dead.positions.length);
  const live = sumOf(segments, ({ totalLength, dead }) => totalLength - dead.totalLength);
  const mean = meanLength(live, count);
  const longest = segments.reduce((most, segment) => Math.max(most, segment.longest), 0);
  const tables = bm25Tables(parameters, mean, longest);
  const accumulator = new Accumulator();
  const terms = termCache(segments, accumulator.store, cacheBytes);
  const searched = segments.map((segment, i) => ({
    lengths: segment.lengths,
    dead: segment.dead.bits,
    base: sumOf(segments.slice(0, i), (before) => before.count),
    ...changeOfMean(mean / meanLength(segment.totalLength, segment.count)),
  }));
  return {
    count,
    best(words, k) {
      if (k < 1) return [];
      const top = topK(k);
      const weighted: { term: CachedTerm; weight: number }[] = [];
      for (const [word, repeats] of repeatsOf(words)) {
        const term = terms.get(word);
        if (term.df === 0) continue;
        const weight = repeats * variant.weight(term.df, count, parameters);
        if (weight > 0) weighted.push({ term, weight });
      }
      weighted.sort((x, y) => y.weight - x.weight);
      searched.forEach((segment, i) => {
        const found: WeightedTerm[] = [];
        for (const { term, weight } of weighted) {
          const postings = term.bySegment[i];
          if (postings != null) found.push({ postings, weight });
        }
        if (found.length > 0) maxScore(found, segment, tables, { accumulator, top, k, ...segment });
      });
      terms.trim();
      return top.take();
    },
  };
}

/**
 * Bounds were computed with the segment's own mean length. Scores grow with the mean, but not faster; the same holds
 * for their fall.
 */
function changeOfMean(growth: number): { scale: number; certain: number } {
  return { scale: Math.max(1, growth), certain: Math.min(growth, 1 / growth) };
}

function repeatsOf(words: readonly string[]): Map<string, number> {
  const repeats = new Map<string, number>();
  for (const word of words) repeats.set(word, (repeats.get(word) ?? 0) + 1);
  return repeats;
}

interface CachedTerm {
  /** Passages that have it, in all segments, without deleted ones. */
  df: number;
  bySegment: (TermPostings | null)[];
  bytes: number;
  /** Number of its latest use. */
  used: number;
}

interface TermCache {
  get(term: string): CachedTerm;
  /** Forgets the terms that were not used for longest when the cache has outgrown its limit. */
  trim(): void;
}

/** Share of the limit that is kept when the cache has outgrown it. */
const KEPT_SHARE = 0.75;

function termCache(segments: readonly Segment[], memory: SearchMemory, limit: number): TermCache {
  const kept = new Map<string, CachedTerm>();
  let total = 0;
  let uses = 0;
  const load = (word: string): CachedTerm => {
    const term: CachedTerm = { df: 0, bySegment: [], bytes: 0, used: 0 };
    const onLoad = (bytes: number): void => {
      term.bytes += bytes;
      total += bytes;
    };
    onLoad(200);
    term.bySegment = segments.map(({ dictionary, postings, dead }) => {
      const entry = dictionary.find(word);
      if (entry === null) return null;
      term.df += entry.df - (dead.lost.get(entry.row) ?? 0);
      return new TermPostings({ file: postings, ...entry }, memory, onLoad);
    });
    kept.set(word, term);
    return term;
  };
  return {
    get(word) {
      const term = kept.get(word) ?? load(word);
      term.used = uses++;
      return term;
    },
    trim() {
      if (total <= limit) return;
      for (const [word, { bytes }] of [...kept].sort(([, x], [, y]) => x.used - y.used)) {
        if (total <= KEPT_SHARE * limit) break;
        kept.delete(word);
        total -= bytes;
      }
      const terms = [...kept.values()].flatMap(({ bySegment }) => bySegment);
      memory.keep(terms.flatMap((term) => term?.stored() ?? []));
    },
  };
}

function sumOf<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((sum, value) => sum + of(value), 0);
}
