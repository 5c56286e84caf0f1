import { setImmediate } from "node:timers/promises";
import { ConfigError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import type { Analyzer } from "../../text/analyzer.ts";
import { suggestAnalyzer, TextSample } from "../../text/suggest-analyzer.ts";
import type { Passage } from "../../trajectory/task.ts";
import { type PassageStore, recentPassages } from "../store/passage-file.ts";
import type { Hit, Retriever } from "../retriever.ts";
import type { Scored } from "../top-k.ts";
import type { Bm25Options } from "./bm25-options.ts";
import { resolveBm25Options, type Bm25Parameters } from "./formula.ts";
import { noTerms } from "./corpus.ts";
import { bm25Search } from "./bm25-search.ts";
import { memorySegment } from "./memory-segment.ts";
import type { Segment } from "./segment.ts";

/** The parts of a BM25 retriever. */
export interface Bm25Parts<S extends Segment = Segment> {
  segments: readonly S[];
  analyzer: Analyzer;
  parameters: Bm25Parameters;
  /** Hash of the corpus and its history. */
  corpusSha256: string;
}

/** BM25 over one corpus. */
export interface Bm25Retriever extends Retriever, Bm25Parts {
  /** All passages by position, segment after segment, including deleted ones. */
  readonly passages: PassageStore;
}

/**
 * BM25 over passages in memory. For repeated use of a corpus, build a folder (`buildIndex`).
 *
 * @throws {DataError} CORPUS_EMPTY, CORPUS_WITHOUT_TERMS, CORPUS_DUPLICATE_ID, PASSAGE_TOO_LONG.
 * @throws {ConfigError} ANALYZER_UNFIT; as `resolveBm25Options`.
 *
 * @example
 * const retriever = buildBm25([{ id: "1", title: "Oslo", text: "The capital of Norway." }]);
 * const [hits] = await retriever.search(["capital of Norway"], 3);
 */
export function buildBm25(passages: Iterable<Passage>, options: Bm25Options = {}): Bm25Retriever {
  const { analyzer, parameters } = resolveBm25Options(options, "bm25");
  const all = [...passages];
  const { segment, sha256: corpusSha256 } = memorySegment(all, analyzer, parameters);
  if (segment.totalLength === 0) throw noTerms("corpus", all.length, analyzer.name);
  requireFit(all, analyzer.name);
  return createBm25({ segments: [segment], analyzer, parameters, corpusSha256 });
}

/** Of an index in memory nobody sees a notice, so an analyzer that finds next to nothing is refused. */
function requireFit(passages: readonly Passage[], analyzer: string): void {
  const sample = new TextSample();
  for (const { text } of passages) sample.add(text);
  const advice = suggestAnalyzer(sample.texts, analyzer);
  if (advice?.analyzer !== "cjk") return;
  throw new ConfigError(
    "ANALYZER_UNFIT",
    `retriever.analyzer is "${analyzer}": ${advice.found}, which it cannot separate into words, so almost no search would find anything. Set retriever.analyzer to cjk.`,
  );
}

/** Queries per turn of the event loop: about 20 ms on a corpus of 10⁵ passages. */
const QUERIES_PER_TURN = 64;

/** A retriever over segments: built in memory or read from a folder. */
export function createBm25(parts: Bm25Parts): Bm25Retriever {
  const { segments, analyzer, parameters, corpusSha256 } = parts;
  const { name, version, options } = analyzer;
  const search = bm25Search(segments, parameters);
  const passages = allPassages(segments);
  const recent = recentPassages(passages);
  const hit = ({ position, score }: Scored): Hit => {
    const { id, title, text } = recent.read(position);
    return { id, title, text, score };
  };
  return {
    ...parts,
    passages,
    name: "bm25",
    fingerprint: `bm25-${sha256(
      JSON.stringify([corpusSha256, name, version, options, parametersInOrder(parameters)]),
    ).slice(0, 16)}`,
    async search(queries, k, { signal } = {}) {
      const results: Hit[][] = [];
      for (const query of queries) {
        if (results.length % QUERIES_PER_TURN === QUERIES_PER_TURN - 1) await setImmediate();
        signal?.throwIfAborted();
        results.push(search.best(analyzer.analyze(query), k).map(hit));
      }
      return results;
    },
    close: async () => {
      await Promise.all(segments.map((segment) => segment.close()));
    },
  };
}

function parametersInOrder({ variant, k1, b, delta }: Bm25Parameters): unknown[] {
  return [variant, k1, b, delta];
}

function allPassages(segments: readonly Segment[]): PassageStore {
  const ends: number[] = [];
  for (const { count } of segments) ends.push((ends.at(-1) ?? 0) + count);
  return {
    count: ends.at(-1) ?? 0,
    read(position) {
      const i = ends.findIndex((end) => position < end);
      return segments[i]!.passages.read(position - (ends[i - 1] ?? 0));
    },
    close: () => Promise.resolve(),
  };
}
