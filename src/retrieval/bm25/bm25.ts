import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { DataError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import { parseOptions, z } from "../../base/schema.ts";
import { type Analyzer, analyzers } from "../../text/analyzer.ts";
import type { Passage } from "../../trajectory/task.ts";
import { type Bm25Parameters, bm25Scorer } from "./bm25-scorer.ts";
import { type InvertedIndex, invertedIndexBuilder } from "./inverted-index.ts";
import {
  memoryStore,
  passageLine,
  type PassageStore,
  searchedText,
} from "../store/passage-store.ts";
import type { Hit, Retriever } from "../retriever.ts";
import type { Scored } from "../top-k.ts";

/** How a BM25 index is made. */
export const bm25Options = z.strictObject({
  /** Saturation of a term's frequency: 0 counts presence only. Anserini .9, Elasticsearch 1.2, bm25s 1.5. */
  k1: z.number().min(0).default(0.9),
  /** Length normalisation, from 0 (none) to 1 (full). Anserini .4, Elasticsearch and bm25s .75. */
  b: z.number().min(0).max(1).default(0.4),
  /** Name of the analyzer of passages and queries. */
  analyzer: z.string().default("english"),
});

/** Options as written; absent ones take their defaults. */
export type Bm25Options = z.input<typeof bm25Options>;

/** What a BM25 retriever is made of. */
export interface Bm25Parts {
  index: InvertedIndex;
  passages: PassageStore;
  analyzer: Analyzer;
  parameters: Bm25Parameters;
  /** SHA-256 of the passages' lines. */
  corpusSha256: string;
}

/** BM25 over one corpus. */
export interface Bm25Retriever extends Retriever, Bm25Parts {}

/**
 * Checks options and finds the analyzer.
 *
 * @param where for messages: a recipe key or "index build".
 * @throws {ConfigError} RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY, PART_UNKNOWN.
 */
export function resolveBm25Options(
  options: Bm25Options,
  where: string,
): { analyzer: Analyzer; parameters: Bm25Parameters } {
  const { analyzer, ...parameters } = parseOptions(bm25Options, options, where);
  return { analyzer: analyzers.get(analyzer, `${where}.analyzer`), parameters };
}

/**
 * BM25 over passages held in memory. A corpus that is used more than once is better built into a folder (`buildIndex`).
 *
 * @throws {DataError} CORPUS_EMPTY, CORPUS_DUPLICATE_ID, PASSAGE_TOO_LONG.
 * @throws {ConfigError} as `resolveBm25Options`.
 *
 * @example
 * const retriever = buildBm25([{ id: "1", title: "Oslo", text: "The capital of Norway." }]);
 * const [hits] = await retriever.search(["capital of Norway"], 3);
 */
export function buildBm25(passages: Iterable<Passage>, options: Bm25Options = {}): Bm25Retriever {
  const { analyzer, parameters } = resolveBm25Options(options, "bm25");
  const collector = corpusCollector(analyzer);
  const kept: Passage[] = [];
  const hash = createHash("sha256");
  for (const passage of passages) {
    hash.update(`${collector.add(passage)}\n`);
    kept.push(passage);
  }
  return createBm25({
    index: collector.finish(),
    passages: memoryStore(kept),
    analyzer,
    parameters,
    corpusSha256: hash.digest("hex"),
  });
}

/** Turns passages into an inverted index and refuses what would make it quietly wrong. */
export interface CorpusCollector {
  /** Passages and distinct terms so far. */
  readonly passages: number;
  readonly terms: number;
  /**
   * @returns the passage's line.
   * @throws {DataError} CORPUS_DUPLICATE_ID, PASSAGE_TOO_LONG.
   */
  add(passage: Passage): string;
  /** @throws {DataError} CORPUS_EMPTY */
  finish(): InvertedIndex;
}

/**
 * An empty collector; one per corpus.
 * @param source the corpus in messages: its path.
 */
export function corpusCollector(analyzer: Analyzer, source = "corpus"): CorpusCollector {
  const builder = invertedIndexBuilder();
  const seen = new Map<string, number>();
  return {
    get passages() {
      return builder.passages;
    },
    get terms() {
      return builder.terms;
    },
    add(passage) {
      const first = seen.get(passage.id);
      if (first !== undefined) {
        throw new DataError(
          "CORPUS_DUPLICATE_ID",
          `${source}: passages ${first + 1} and ${builder.passages + 1} share the id "${passage.id}"; every passage needs its own. Drop or rename one.`,
        );
      }
      seen.set(passage.id, builder.passages);
      builder.add(analyzer.analyze(searchedText(passage)), passage.id);
      return passageLine(passage);
    },
    finish() {
      if (builder.passages === 0) {
        throw new DataError(
          "CORPUS_EMPTY",
          `${source}: holds no passages; an index needs at least one. Check that the path is right and the file is not cut.`,
        );
      }
      return builder.finish();
    },
  };
}

/** Queries answered before other work gets a turn: some 20 ms on a corpus of 10⁵ passages. */
const QUERIES_PER_TURN = 64;

/** A retriever over parts that fit each other: built in memory or read from a folder. */
export function createBm25(parts: Bm25Parts): Bm25Retriever {
  const { passages, analyzer, parameters, corpusSha256 } = parts;
  const { name, version, options } = analyzer;
  const best = bm25Scorer(parts.index, parameters);
  const hit = ({ position, score }: Scored): Hit => ({ ...passages.read(position), score });
  return {
    ...parts,
    name: "bm25",
    fingerprint: `bm25-${sha256(
      JSON.stringify([corpusSha256, name, version, options, parameters.k1, parameters.b]),
    ).slice(0, 16)}`,
    async search(queries, k, { signal } = {}) {
      const results: Hit[][] = [];
      for (const query of queries) {
        if (results.length % QUERIES_PER_TURN === QUERIES_PER_TURN - 1) await setImmediate();
        signal?.throwIfAborted();
        results.push(best(analyzer.analyze(query), k).map(hit));
      }
      return results;
    },
    close: () => passages.close(),
  };
}
