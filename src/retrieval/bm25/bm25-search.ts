import { totalmem } from "node:os";
import { constrainedMemory } from "node:process";
import { type Scored, topK } from "../top-k.ts";
import { Accumulator } from "./accumulator.ts";
import { meanLength } from "./corpus.ts";
import { type Bm25Parameters, bm25Tables, bm25Variants } from "./formula.ts";
import { maxScore } from "./max-score.ts";
import type { SearchMemory } from "./sum-kernel.ts";
import type { Segment } from "./segment.ts";
import type { WeightedTerm } from "./term-cursor.ts";
import { TermPostings } from "./term-postings.ts";

/** Finds the best passages of an index for analysed queries. */
export interface Bm25Search {
  /**
   * The k best passages for a query's terms, by the formula with exact passage lengths, over all segments as
   * one corpus without deleted passages. Sums are float64, with the terms ordered by weight, largest
   * first; a repeated query term counts repeatedly. Passages without any of the terms are never returned.
   *
   * @throws {DataError} INDEX_CORRUPT
   */
  best(terms: readonly string[], k: number): Scored[];
  readonly count: number;
}

/** So much may be cached of the smallest index. */
const LEAST_CACHE_BYTES = 2 ** 24;

/**
 * Size limit of the postings cache: twice the postings, so that what questions ask for again and again fits with its objects, but not every rare
 * term, whose objects are larger than its postings; at most 1/16 of the machine's memory (or of this process's limit), between 256 MiB and
 * 1 GiB. At 5·10⁶ passages, the postings of common questions need about as much.
 */
export function cacheLimit(postingBytes: number): number {
  const most = Math.min(2 ** 30, Math.max(2 ** 28, memoryLimit() / 16));
  return Math.min(most, Math.max(LEAST_CACHE_BYTES, 2 * postingBytes));
}

function memoryLimit(): number {
  const limit = constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

export function bm25Search(
  segments: readonly Segment[],
  parameters: Bm25Parameters,
  cacheBytes = cacheLimit(sumOf(segments, ({ postings }) => postings.bytes)),
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
        if (term === null || term.df === 0) continue;
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
 * Bounds assume the segment's own mean length. Scores grow with the mean, but at most proportionally; the same holds
 * for a decrease.
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
  /** Number of undeleted passages with it, in all segments. */
  df: number;
  bySegment: (TermPostings | null)[];
  bytes: number;
}

interface TermCache {
  /** @returns null for a term that no segment has. */
  get(term: string): CachedTerm | null;
  /** Removes the least recently used terms when the cache exceeds its limit. */
  trim(): void;
}

/** Share of the limit to keep when the cache exceeds it. */
const KEPT_SHARE = 0.75;

/** Memory of a term without its postings and its characters. */
const TERM_BYTES = 200;

/** Keeps terms of the index alone: words of queries have no end. */
function termCache(segments: readonly Segment[], memory: SearchMemory, limit: number): TermCache {
  /** The most recently used is last. */
  const kept = new Map<string, CachedTerm>();
  let total = 0;
  const load = (word: string): CachedTerm | null => {
    const entries = segments.map(({ dictionary }) => dictionary.find(word));
    if (entries.every((entry) => entry === null)) return null;
    const term: CachedTerm = { df: 0, bySegment: [], bytes: 0 };
    const onLoad = (bytes: number): void => {
      term.bytes += bytes;
      total += bytes;
    };
    onLoad(TERM_BYTES + 2 * word.length);
    term.bySegment = segments.map(({ postings, dead }, i) => {
      const entry = entries[i];
      if (entry == null) return null;
      term.df += entry.df - (dead.lost.get(entry.row) ?? 0);
      return new TermPostings({ file: postings, ...entry }, memory, onLoad);
    });
    return term;
  };
  return {
    get(word) {
      const term = kept.get(word) ?? load(word);
      if (term === null) return null;
      kept.delete(word);
      kept.set(word, term);
      return term;
    },
    trim() {
      if (total <= limit) return;
      for (const [word, { bytes }] of kept) {
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
