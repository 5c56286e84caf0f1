import { seedFrom } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { Hit } from "../../retrieval/retriever.ts";
import { numberedPassages } from "../../trajectory/role-prompts.ts";
import { retrieverNamed } from "./retriever-named.ts";
import { defineTool, type Found, stateless } from "./tool.ts";

/** Search over a corpus: `Doc 1(Title: …) …`, one line a passage, best first, as Search-R1 shows them. */
export const corpusSearch = defineTool({
  name: "corpus-search",
  action: "search",
  summary: "The best passages of a corpus for a query.",
  description: "Looks passages up in a corpus by a query in words.",
  searches: true,
  needs: ["retriever"],
  example: { good: "capital Norway", bad: "" },
  parameters: z.object({ query: z.string() }),
  options: z.strictObject({
    /** Passages shown per query. */
    topK: z.int().min(1).max(100).default(3),
    /**
     * How passages are shown. plain: the title as the corpus has it. search-r1: as the released client of Search-R1 shows them, which takes the
     * title with its quotes from the first line of `contents`, and drops the last line break.
     */
    show: z.enum(["plain", "search-r1"]).default("plain"),
    /** Name of one of the recipe's `retrievers`; its `retriever` where absent. */
    retriever: z.string().optional(),
  }),
  create({ topK, show, retriever: named }, resources) {
    const retriever = retrieverNamed(named, resources);
    return {
      open: ({ task, progress, seed }) =>
        stateless(async ({ query }, { signal, turn }) => {
          if (query === "") {
            const problem = { code: "empty-query", message: "the query is empty" };
            return { text: "The query was empty.", passageIds: [], problem };
          }
          const [hits = []] = await retriever.search([query], topK, {
            signal,
            contexts: [{ task, seed: seedFrom(seed, turn), progress }],
          });
          return found(hits, show);
        }),
    };
  },
});

/** What a policy is shown of hits. */
function found(hits: readonly Hit[], show: "plain" | "search-r1"): Found {
  const isClients = show === "search-r1";
  const shown = hits.map((hit) => (isClients ? { ...hit, title: `"${hit.title}"` } : hit));
  const text = `${numberedPassages(shown)}${isClients ? "" : "\n"}`;
  return {
    text: hits.length === 0 ? "Nothing was found." : text,
    passageIds: hits.map(({ id }) => id),
  };
}
