import { parseOptions, z } from "../../base/schema.ts";
import type { Hit } from "../../retrieval/retriever.ts";
import type { Observation } from "../../trajectory/trajectory.ts";
import type { ToolPart } from "./tool.ts";

const options = z.strictObject({
  /** Passages shown per query. */
  topK: z.int().min(1).max(100).default(3),
});

/** Search over a corpus: `Doc 1(Title: …) …`, one line a passage, best first, as Search-R1 shows them. */
export const corpusSearch: ToolPart = {
  name: "corpus-search",
  summary: "The best passages of a corpus for a query.",
  readsGold: false,
  options,
  create(given, { retriever }) {
    const { topK } = parseOptions(options, given, "corpus-search");
    return {
      name: "search",
      description: "Looks passages up in a corpus by a query in words.",
      argument: "query",
      async call(input, { task, progress, signal }) {
        if (input === "") {
          const problem = { code: "empty-query", message: "the query is empty" };
          return { tool: "search", text: "The query was empty.", passageIds: [], problem };
        }
        const [hits = []] = await retriever.search([input], topK, {
          signal,
          contexts: [{ task, ...(progress === undefined ? {} : { progress }) }],
        });
        return searchObservation(hits);
      },
    };
  },
};

/** What a policy is shown of hits. */
function searchObservation(hits: readonly Hit[]): Observation {
  const lines = hits.map(({ title, text }, i) => `Doc ${i + 1}(Title: ${title}) ${text}`);
  return {
    tool: "search",
    text: hits.length === 0 ? "Nothing was found." : `${lines.join("\n")}\n`,
    passageIds: hits.map(({ id }) => id),
  };
}
