// wink-bm25-text-search, one field, our terms. A query is a disjunction already.
import { searchedText } from "../../../dist/retrieval/store/passage-file.js";
import { english } from "../../../dist/text/analyzer.js";
import { peer, versionOf } from "./peer.mjs";

const PACKAGE = "wink-bm25-text-search";

export const name = "wink";
export const ranking = "BM25 with (k1 + 1), k1 .9, b .4, weights rounded to 4 digits";
export const bm25 = true;

export async function build(passages) {
  const { default: bm25 } = await peer(PACKAGE);
  const engine = bm25();
  engine.defineConfig({ fldWeights: { text: 1 }, bm25Params: { k1: 0.9, b: 0.4, k: 1 } });
  engine.definePrepTasks([(text) => english.analyze(text)]);
  for await (const passage of passages) {
    engine.addDoc({ text: searchedText(passage) }, passage.id);
  }
  engine.consolidate(4);
  return { version: versionOf(PACKAGE), search: (query, k) => engine.search(query, k) };
}

export function score({ query, passage, corpus }) {
  const [k1, b] = [0.9, 0.4];
  const norm = 1 - b + (b * passage.length) / corpus.meanLength;
  return query
    .filter((term) => passage.counts.has(term))
    .reduce((sum, term) => {
      const tf = passage.counts.get(term);
      return sum + (corpus.idf(term) * (k1 + 1) * tf) / (tf + k1 * norm);
    }, 0);
}
