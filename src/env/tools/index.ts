import { ConfigError } from "../../base/errors.ts";
import { seedFrom } from "../../base/random.ts";
import { registry } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import type { Hit, Retriever } from "../../retrieval/retriever.ts";
import { numberedPassages } from "../../trajectory/role-prompts.ts";
import { calculator } from "./calculator.ts";
import { python } from "./python.ts";
import { type Found, type ToolPart, type ToolResources, defineTool, stateless } from "./tool.ts";

/** Search over a corpus: `Doc 1(Title: …) …`, one line a passage, best first, as Search-R1 shows them. */
const corpusSearch = defineTool({
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

function found(hits: readonly Hit[], show: "plain" | "search-r1"): Found {
  const isClients = show === "search-r1";
  const shown = hits.map((hit) => (isClients ? { ...hit, title: `"${hit.title}"` } : hit));
  const text = `${numberedPassages(shown)}${isClients ? "" : "\n"}`;
  return {
    text: hits.length === 0 ? "Nothing was found." : text,
    passageIds: hits.map(({ id }) => id),
  };
}

/** All tools. */
export const tools = registry<ToolPart>("tool", [corpusSearch, calculator, python]);

/** The same retriever under each name: for environments that are made for their grammar, or whose strategy never searches. */
export function allNamed(names: Iterable<string>, retriever: Retriever): Record<string, Retriever> {
  return Object.fromEntries([...names].map((name) => [name, retriever]));
}

/** One of the recipe's `retrievers`; its `retriever` where no name is given. @throws {ConfigError} PART_UNKNOWN with the nearest name. */
export function retrieverNamed(
  name: string | undefined,
  { retriever, retrievers = {} }: ToolResources,
): Retriever {
  if (name === undefined) return retriever;
  const found = retrievers[name];
  if (found !== undefined) return found;
  const known = Object.keys(retrievers);
  const hint = known.length === 0 ? "The recipe has no retrievers." : suggest(name, known);
  const message = `environment.tools: retriever is "${name}"; the recipe's retrievers have no such name. ${hint}`;
  throw new ConfigError("PART_UNKNOWN", message);
}
