// agentrl: built into a folder, opened from it; hits come with title and text.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildIndex } from "../../../dist/retrieval/bm25/build-index.js";
import { openIndex } from "../../../dist/retrieval/bm25/open-index.js";

export const name = "agentrl";
export const ranking = "BM25 as Lucene has it, k1 .9, b .4";
export const bm25 = true;

export async function build(passages, { out, ...options }) {
  const folder = out ?? mkdtempSync(join(tmpdir(), "agentrl-bench-index-"));
  if (out === undefined) process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const target = out ?? join(folder, "index");
  await buildIndex(passages, target, { ...options, overwrite: true });
  return open(target);
}

export async function open(folder) {
  const retriever = await openIndex(folder);
  return {
    version: "this checkout",
    retriever,
    async search(query, k) {
      const [hits] = await retriever.search([query], k);
      return hits.map(({ id, score }) => [id, score]);
    },
  };
}

export function score({ query, passage, corpus }) {
  const [k1, b] = [0.9, 0.4];
  const norm = 1 - b + (b * passage.length) / corpus.meanLength;
  return query
    .filter((term) => passage.counts.has(term))
    .reduce((sum, term) => {
      const tf = passage.counts.get(term);
      return sum + (corpus.idf(term) * tf) / (tf + k1 * norm);
    }, 0);
}
