import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { isPath } from "../../base/setting-path.ts";
import type { Passage } from "../../trajectory/task.ts";
import { defineRetriever, type RetrieverContext } from "../retriever.ts";
import { bm25Options } from "./bm25-options.ts";

const options = bm25Options.extend({
  /** Folder from `agentrl index build`, with its own analyzer and parameters. */
  index: z.string().optional().meta(isPath()),
});

/** BM25 over an index folder, or in memory over the dataset's passages. */
export const bm25 = defineRetriever({
  name: "bm25",
  summary: "BM25, exact, over an index folder or over the dataset's own passages.",
  options,
  async open({ index, ...made }, context) {
    if (index === undefined)
      return (await import("./bm25.ts")).buildBm25(await corpusOf(context), made);
    const [key] = Object.keys(made);
    if (key === undefined) return (await import("./open-index.ts")).openIndex(index);
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `bm25.${key} has no effect with bm25.index: an index has its own settings. Remove the key, or build the index with it.`,
    );
  },
});

async function corpusOf({ corpus }: RetrieverContext): Promise<Passage[]> {
  if (corpus === undefined)
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      "bm25.index is not set and the dataset has no passages: set it to a folder from `agentrl index build`, or pass a corpus (--corpus FILE).",
    );
  const passages: Passage[] = [];
  for await (const passage of corpus()) passages.push(passage);
  return passages;
}
