import { parseOptions, z } from "../../base/schema.ts";
import type { RetrieverPart } from "../retriever-part.ts";
import { openDenseIndex } from "./open-dense-index.ts";

const options = z.strictObject({
  /** Folder made by `agentrl index build --encoder`. */
  index: z.string(),
  /** Where its model is, when it has moved. */
  model: z.string().optional(),
  /** Compare with every passage even where the index has a graph. */
  exact: z.boolean().optional(),
  /** Candidates of the graph's search; more finds more and takes longer. */
  efSearch: z.int().min(1).optional(),
  /** Bytes of memory for vectors or graph. */
  maxMemory: z.int().min(1).optional(),
});

/** Nearest passages by text embeddings. */
export const dense: RetrieverPart = {
  name: "dense",
  summary: "Nearest passages by text embeddings, over an index folder that has them.",
  readsGold: false,
  options,
  async create(given) {
    const { index, ...rest } = parseOptions(options, given, "dense");
    return openDenseIndex(index, rest);
  },
};
