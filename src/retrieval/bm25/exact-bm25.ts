import type { Analyzer } from "../../text/analyzer.ts";
import type { Bm25Parameters } from "./bm25-scorer.ts";
import { type PassageStore, searchedText } from "../store/passage-store.ts";
import type { Scored } from "../top-k.ts";

/**
 * BM25 by the formula and nothing else: reads every passage, counts, sorts. Shares no code with the index beyond the
 * analyzer, so that `index check` can compare the two.
 *
 * @param queries analysed queries, answered together in two passes over the corpus.
 * @returns per query all passages with a positive score, best first, ties by position.
 */
export function exactBm25(
  passages: PassageStore,
  analyzer: Analyzer,
  { k1, b }: Bm25Parameters,
  queries: readonly (readonly string[])[],
): Scored[][] {
  const wanted = new Set(queries.flat());
  const documentFrequencies = new Map<string, number>();
  const lengths: number[] = [];
  const occurrences: Map<string, number>[] = [];
  for (let position = 0; position < passages.count; position++) {
    const terms = analyzer.analyze(searchedText(passages.read(position)));
    const counts = new Map<string, number>();
    for (const term of terms) {
      if (wanted.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
    }
    for (const term of counts.keys()) {
      documentFrequencies.set(term, (documentFrequencies.get(term) ?? 0) + 1);
    }
    lengths.push(terms.length);
    occurrences.push(counts);
  }
  const meanLength = lengths.reduce((total, length) => total + length, 0) / lengths.length;
  const idf = (term: string): number => {
    const df = documentFrequencies.get(term) ?? 0;
    return Math.log(1 + (passages.count - df + 0.5) / (df + 0.5));
  };
  const score = (query: readonly string[], position: number): number => {
    const norm = k1 * (1 - b + (b * lengths[position]!) / meanLength);
    let sum = 0;
    for (const term of query) {
      const tf = occurrences[position]!.get(term);
      if (tf !== undefined) sum += (idf(term) * tf) / (tf + norm);
    }
    return sum;
  };
  return queries.map((query) =>
    lengths
      .map((_, position) => ({ position, score: score(query, position) }))
      .filter((scored) => scored.score > 0)
      .sort((x, y) => y.score - x.score || x.position - y.position),
  );
}
