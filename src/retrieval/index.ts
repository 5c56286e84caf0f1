import type { PartWithOptions } from "../base/part-schema.ts";
import { registry } from "../base/registry.ts";
import { parseOptions, z } from "../base/schema.ts";
import { noneRetriever } from "./none.ts";
import { openIndex } from "./open-index.ts";
import type { Retriever } from "./retriever.ts";

/** A retriever that a recipe can name. */
export interface RetrieverPart extends PartWithOptions {
  /**
   * @param options checked by the part's own schema; a recipe's are already.
   * @throws what opening it throws: a missing or damaged index, bad options.
   */
  create(options: unknown): Promise<Retriever>;
}

const bm25Settings = z.strictObject({
  /** Folder made by `agentrl index build`; analyzer, k1 and b are the index's own. */
  index: z.string(),
});

const bm25: RetrieverPart = {
  name: "bm25",
  summary: "BM25 over an index folder, exact, by Lucene's formula.",
  options: bm25Settings,
  create: async (options) => openIndex(parseOptions(bm25Settings, options, "bm25").index),
};

const noneSettings = z.strictObject({});

const none: RetrieverPart = {
  name: "none",
  summary: "Finds nothing: the control for whether retrieval helps at all.",
  options: noneSettings,
  create: async (options) => {
    parseOptions(noneSettings, options, "none");
    return Promise.resolve(noneRetriever());
  },
};

/** All retrievers. */
export const retrievers = registry<RetrieverPart>("retriever", [bm25, none]);
