import { type Registry, registry } from "../base/registry.ts";
import { bm25 } from "./bm25/open-index.ts";
import { hybrid } from "./combine/hybrid.ts";
import { rerank } from "./combine/rerank.ts";
import { faulty } from "./controls/faulty.ts";
import { noisy } from "./controls/noisy.ts";
import { none } from "./controls/none.ts";
import { oracle, withoutGold } from "./controls/gold.ts";
import { random } from "./controls/random.ts";
import { recorded } from "./controls/recorded.ts";
import { subset } from "./controls/subset.ts";
import { dense } from "./dense/open-dense-index.ts";
import { llmSearch } from "./remote/llm-search.ts";
import { opensearch } from "./remote/opensearch.ts";
import { qdrant } from "./remote/qdrant.ts";
import { searchR1Server } from "./remote/search-r1-server.ts";
import { webSearch } from "./remote/web-search.ts";
import type { Retriever, RetrieverContext, RetrieverPart, RetrieverSettings } from "./retriever.ts";

export { retrieverSchema } from "./retriever.ts";

/** All retrievers. */
export const retrievers: Registry<RetrieverPart> = registry("retriever", [
  bm25,
  dense,
  hybrid,
  rerank,
  none,
  random,
  oracle,
  withoutGold,
  subset,
  noisy,
  recorded,
  faulty,
  searchR1Server,
  opensearch,
  qdrant,
  webSearch,
  llmSearch,
]);

/**
 * Opens the retriever of settings, including the retrievers inside it.
 *
 * @param settings checked by `retrieverSchema`.
 * @param corpus the dataset's passages, if any.
 * @throws the errors of the retriever's `open`.
 */
export function openRetriever(
  settings: RetrieverSettings,
  corpus?: RetrieverContext["corpus"],
): Promise<Retriever> {
  const { name, ...options } = settings;
  const context: RetrieverContext = {
    corpus,
    open: (inner, over = corpus) => openRetriever(inner, over),
  };
  return retrievers.get(name, "retriever").open(options, context);
}
