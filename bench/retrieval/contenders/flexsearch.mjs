// FlexSearch, our terms, with suggestions: without them a passage must have all terms.
import { searchedText } from "../../../dist/retrieval/store/passage-file.js";
import { english } from "../../../dist/text/analyzer.js";
import { peer, versionOf } from "./peer.mjs";

export const name = "flexsearch";
export const ranking = "no scores: by how many terms match and where in the passage they stand";
export const bm25 = false;

export async function build(passages) {
  const { default: flexsearch } = await peer(name);
  const index = new flexsearch.Index({
    tokenize: "strict",
    encode: (text) => english.analyze(text),
  });
  const ids = [];
  for await (const passage of passages) {
    index.add(ids.length, searchedText(passage));
    ids.push(passage.id);
  }
  return {
    version: versionOf(name),
    search: (query, k) =>
      index.search(query, { limit: k, suggest: true }).map((position) => [ids[position], null]),
  };
}
