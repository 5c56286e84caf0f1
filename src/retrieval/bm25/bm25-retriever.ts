import { ConfigError } from "../../base/errors.ts";
import { parseOptions, z } from "../../base/schema.ts";
import type { Passage } from "../../trajectory/task.ts";
import type { RetrieverContext, RetrieverPart } from "../retriever-part.ts";
import { buildBm25 } from "./bm25.ts";
import { bm25Options } from "./bm25-options.ts";
import { openIndex } from "./open-index.ts";

const options = bm25Options.extend({
  /** Folder made by `agentrl index build`; analyzer and parameters are then the index's own. */
  index: z.string().optional(),
});

/** BM25 over an index folder, or over the corpus at hand, in memory. */
export const bm25: RetrieverPart = {
  name: "bm25",
  summary: "BM25, exact, over an index folder or over the dataset's own passages.",
  readsGold: false,
  options,
  async create(given, context) {
    const { index, ...made } = parseOptions(options, given, "bm25");
    if (index === undefined) return buildBm25(await corpusOf(context), made);
    const [key] = Object.keys(made);
    if (key === undefined) return openIndex(index);
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `bm25.${key} is set beside bm25.index: an index keeps what it was built with. Drop the key, or build the index with it.`,
    );
  },
};

async function corpusOf({ corpus }: RetrieverContext): Promise<Passage[]> {
  if (corpus === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      "bm25.index is absent and there is no corpus at hand: name an index folder made by `agentrl index build`, or give the corpus (--corpus FILE).",
    );
  }
  const passages: Passage[] = [];
  for await (const passage of corpus()) passages.push(passage);
  return passages;
}
