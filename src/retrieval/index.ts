import { type Registry, registry } from "../base/registry.ts";
import type { Retriever, RetrieverContext, RetrieverPart, RetrieverSettings } from "./retriever.ts";

export { retrieverSchema } from "./retriever.ts";

export const retrievers: Registry<RetrieverPart> = registry("retriever", {
  bm25: async () => (await import("./bm25/bm25-retriever.ts")).bm25,
  dense: async () => (await import("./dense/open-dense-index.ts")).dense,
  hybrid: async () => (await import("./combine/hybrid.ts")).hybrid,
  rerank: async () => (await import("./combine/rerank.ts")).rerank,
  none: async () => (await import("./controls/none.ts")).none,
  random: async () => (await import("./controls/random.ts")).random,
  oracle: async () => (await import("./controls/gold.ts")).oracle,
  "without-gold": async () => (await import("./controls/gold.ts")).withoutGold,
  subset: async () => (await import("./controls/subset.ts")).subset,
  noisy: async () => (await import("./controls/noisy.ts")).noisy,
  recorded: async () => (await import("./controls/recorded.ts")).recorded,
  faulty: async () => (await import("./controls/faulty.ts")).faulty,
  "search-r1-server": async () => (await import("./remote/search-r1-server.ts")).searchR1Server,
  opensearch: async () => (await import("./remote/opensearch.ts")).opensearch,
  qdrant: async () => (await import("./remote/qdrant.ts")).qdrant,
  "web-search": async () => (await import("./remote/web-search.ts")).webSearch,
  "llm-search": async () => (await import("./remote/llm-search.ts")).llmSearch,
});

/**
 * Opens the retriever of settings, including the retrievers inside it.
 *
 * @param settings checked by `retrieverSchema`.
 * @param corpus the dataset's passages, if any.
 * @throws the errors of the retriever's `open`.
 */
export async function openRetriever(
  settings: RetrieverSettings,
  corpus?: RetrieverContext["corpus"],
): Promise<Retriever> {
  const { name, ...options } = settings;
  const context: RetrieverContext = {
    corpus,
    open: (inner, over = corpus) => openRetriever(inner, over),
  };
  const part = await retrievers.load(name, "retriever");
  return part.open(options, context);
}
