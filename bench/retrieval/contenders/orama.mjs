// Orama, one field, our terms, any of them may match.
import { searchedText } from "../../../dist/retrieval/store/passage-file.js";
import { english } from "../../../dist/text/analyzer.js";
import { peer, versionOf } from "./peer.mjs";

const PACKAGE = "@orama/orama";

export const name = "orama";
export const ranking =
  "a BM25 formula (k 1.2, b .75, d .5) over presence: repetitions are dropped, the frequency is 1 / distinct terms";
export const bm25 = true;

/**
 * Orama matches by prefix; its `exact` asks for all words in the original text. A mark at the end of every term makes
 * prefix and whole term the same. Repetitions are dropped as its own tokenizer does: it counts a term's passages once for
 * every occurrence.
 */
const terms = (text) => [...new Set(english.analyze(text))].map((term) => `${term}$`);

export async function build(passages) {
  const { create, insert, search } = await peer(PACKAGE);
  const index = create({
    schema: { text: "string" },
    components: {
      tokenizer: { language: "english", normalizationCache: new Map(), tokenize: terms },
    },
    sort: { enabled: false },
  });
  for await (const passage of passages) {
    await insert(index, { id: passage.id, text: searchedText(passage) });
  }
  return {
    version: versionOf(PACKAGE),
    async search(query, k) {
      const { hits } = await search(index, { term: query, limit: k, threshold: 1 });
      return hits.map(({ id, score }) => [id, score]);
    },
  };
}

export function score({ query, passage, corpus }) {
  const [k, b, d] = [1.2, 0.75, 0.5];
  const tf = 1 / passage.distinct;
  const norm = 1 - b + (b * passage.distinct) / corpus.meanDistinct;
  return [...new Set(query)]
    .filter((term) => passage.counts.has(term))
    .reduce((sum, term) => sum + (corpus.idf(term) * (d + tf * (k + 1))) / (tf + k * norm), 0);
}
