import type { Analyzer } from "../../text/analyzer.ts";
import { type PassageStore, searchedText } from "../store/passage-file.ts";
import type { Scored } from "../top-k.ts";
import { bm25Variants, type Bm25Parameters } from "./formula.ts";

/**
 * A reference implementation of BM25: reads every passage, counts, applies the formula, sorts. It shares only the analyzer and the
 * formula with the index, so that `index check` can compare the two.
 *
 * @param queries analysed queries, answered in one pass over the corpus.
 * @param isDead whether a passage is deleted, and so ignored.
 * @returns per query all passages with a positive score, best first, ties by position.
 */
export function exactBm25(
  passages: PassageStore,
  analyzer: Analyzer,
  parameters: Bm25Parameters,
  {
    queries,
    isDead = () => false,
  }: { queries: readonly (readonly string[])[]; isDead?: (position: number) => boolean },
): Scored[][] {
  const corpus = countTerms(passages, analyzer, new Set(queries.flat()), isDead);
  const variant = bm25Variants.get(parameters.variant, "variant");
  return queries.map((query) =>
    corpus.passages
      .map(({ position, length, counts }) => {
        let sum = 0;
        for (const term of query) {
          const tf = counts.get(term) ?? 0;
          const df = corpus.documentFrequencies.get(term) ?? 0;
          if (tf === 0) continue;
          const n = 1 - parameters.b + (parameters.b * length * corpus.count) / corpus.totalLength;
          const shifted = tf + variant.shift(n, parameters);
          const share = shifted / (shifted + parameters.k1 * n) + variant.presence(parameters);
          sum += variant.weight(df, corpus.count, parameters) * share;
        }
        return { position, score: sum };
      })
      .filter((scored) => scored.score > 0)
      .sort((x, y) => y.score - x.score || x.position - y.position),
  );
}

interface CountedCorpus {
  documentFrequencies: Map<string, number>;
  /** Number of passages that are not deleted, and of their terms. */
  count: number;
  totalLength: number;
  /** Those with a query term. */
  passages: { position: number; length: number; counts: Map<string, number> }[];
}

function countTerms(
  passages: PassageStore,
  analyzer: Analyzer,
  wanted: ReadonlySet<string>,
  isDead: (position: number) => boolean,
): CountedCorpus {
  const counted: CountedCorpus = {
    documentFrequencies: new Map<string, number>(),
    passages: [],
    count: 0,
    totalLength: 0,
  };
  for (let position = 0; position < passages.count; position++) {
    if (isDead(position)) continue;
    const terms = analyzer.analyze(searchedText(passages.read(position)));
    const counts = new Map<string, number>();
    for (const term of terms) {
      if (wanted.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
    }
    for (const term of counts.keys()) {
      const df = counted.documentFrequencies.get(term) ?? 0;
      counted.documentFrequencies.set(term, df + 1);
    }
    counted.count += 1;
    counted.totalLength += terms.length;
    if (counts.size > 0) counted.passages.push({ position, length: terms.length, counts });
  }
  return counted;
}
