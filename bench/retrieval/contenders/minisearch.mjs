// MiniSearch, one field, our terms, any of them may match.
import { searchedText } from "../../../dist/retrieval/store/passage-file.js";
import { english } from "../../../dist/text/analyzer.js";
import { peer, versionOf } from "./peer.mjs";

export const name = "minisearch";
export const ranking =
  "BM25+ (k 1.2, b .7, d .5) with lengths in distinct terms, times the number of query terms that match";
export const bm25 = true;

export async function build(passages) {
  const { default: MiniSearch } = await peer(name);
  const index = new MiniSearch({
    fields: ["text"],
    tokenize: (text) => english.analyze(text),
    processTerm: (term) => term,
    searchOptions: { combineWith: "OR", prefix: false, fuzzy: false },
  });
  for await (const passage of passages) index.add({ id: passage.id, text: searchedText(passage) });
  return {
    version: versionOf(name),
    search: (query, k) =>
      index
        .search(query)
        .slice(0, k)
        .map(({ id, score }) => [id, score]),
  };
}

export function score({ query, passage, corpus }) {
  const [k, b, d] = [1.2, 0.7, 0.5];
  const norm = 1 - b + (b * passage.distinct) / corpus.meanDistinct;
  const matching = query.filter((term) => passage.counts.has(term));
  const sum = matching.reduce((total, term) => {
    const tf = passage.counts.get(term);
    return total + corpus.idf(term) * (d + (tf * (k + 1)) / (tf + k * norm));
  }, 0);
  return sum * new Set(matching).size;
}
