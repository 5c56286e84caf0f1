import type { Analyzer } from "../../text/analyzer.ts";
import { type PassageStore, searchedText } from "../store/passage-file.ts";
import type { Scored } from "../top-k.ts";
import type { Bm25Parameters } from "./formula.ts";

/**
 * A reference implementation of BM25: reads every passage, counts, applies the published formulas, sorts. It shares only the
 * analyzer with the index, so that `index check` can compare the two.
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
  const score = FORMULAS[parameters.variant];
  if (score === undefined) throw new Error(`no formula for the variant "${parameters.variant}"`);
  return queries.map((query) =>
    corpus.passages
      .map(({ position, length, counts }) => {
        let sum = 0;
        for (const term of query) {
          const tf = counts.get(term) ?? 0;
          const df = corpus.documentFrequencies.get(term) ?? 0;
          if (tf === 0) continue;
          const n = 1 - parameters.b + (parameters.b * length * corpus.count) / corpus.totalLength;
          sum += score({ tf, df, n, count: corpus.count, ...parameters });
        }
        return { position, score: sum };
      })
      .filter((scored) => scored.score > 0)
      .sort((x, y) => y.score - x.score || x.position - y.position),
  );
}

interface TermNumbers extends Bm25Parameters {
  tf: number;
  df: number;
  /** N. */
  count: number;
  /** Normalised length. */
  n: number;
}

/** A term's contribution to a passage's score, by variant. */
const FORMULAS: Record<string, (numbers: TermNumbers) => number> = {
  lucene: ({ tf, df, count, n, k1 }) =>
    (Math.log(1 + (count - df + 0.5) / (df + 0.5)) * tf) / (tf + k1 * n),
  robertson: ({ tf, df, count, n, k1 }) =>
    (Math.max(0, Math.log((count - df + 0.5) / (df + 0.5))) * tf) / (tf + k1 * n),
  atire: ({ tf, df, count, n, k1 }) => (Math.log(count / df) * (k1 + 1) * tf) / (tf + k1 * n),
  "bm25+": ({ tf, df, count, n, k1, delta }) =>
    Math.log((count + 1) / df) * (((k1 + 1) * tf) / (tf + k1 * n) + delta),
  bm25l: ({ tf, df, count, n, k1, delta }) => {
    const c = tf / n;
    return (Math.log((count + 1) / (df + 0.5)) * (k1 + 1) * (c + delta)) / (k1 + c + delta);
  },
};

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
