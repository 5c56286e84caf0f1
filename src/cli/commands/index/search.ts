import { fixed, formatCount, shorten } from "../../../base/format.ts";
import { renderText } from "../../../base/table.ts";
import type { Hit, Retriever } from "../../../retrieval/retriever.ts";
import { type CliContext, defineCommand } from "../../command.ts";
import { type Flags, jsonFlag, options, wholeNumber } from "../../options.ts";
import { anyRetriever, openRetrieverFlags } from "../../retriever-option.ts";
import { usage } from "../../usage.ts";
import { INDEX } from "./index-flags.ts";

const OPTIONS = options({
  k: ["<n>", "number of hits (default: 10)", wholeNumber(1)],
  ...anyRetriever("an index"),
  json: jsonFlag(),
});

type SearchFlags = Flags<typeof OPTIONS> & { index?: string };

/** Adds `search`. */
export const indexSearch = defineCommand({
  name: "search",
  summary: "search an index, or any retriever",
  description: "Search an index, or any retriever by --retriever.",
  args: [
    ["[index]", `${INDEX}; left out beside --retriever`],
    ["[query]", "one query, quoted"],
  ],
  options: OPTIONS,
  more: (command) =>
    command.usage(
      "[options] <index> <query>\n       agentrl index search [options] --retriever <name> <query>",
    ),
  async run(flags, context, first, second) {
    const { query, retriever } = await openSearch(first, second, flags);
    try {
      await search(retriever, query, flags, context);
    } finally {
      await retriever.close();
    }
  },
});

/** The first argument is the index, or the query if --retriever replaces the index. */
async function openSearch(
  first: string | undefined,
  second: string | undefined,
  flags: SearchFlags,
): Promise<{ query: string; retriever: Retriever }> {
  const [index, query] = flags.retriever === undefined ? [first, second] : [undefined, first];
  if (query === undefined)
    throw usage(
      'index search needs an index and a query: agentrl index search IDX "query"; or a query and --retriever.',
    );
  if (flags.retriever !== undefined && second !== undefined)
    throw usage(`An index ("${query}") and --retriever are both given: leave one of them out.`);
  const place = index === undefined ? {} : { index };
  return { query, retriever: await openRetrieverFlags({ ...flags, ...place }) };
}

async function search(
  retriever: Retriever,
  query: string,
  { k = 10, json }: SearchFlags,
  context: CliContext,
): Promise<void> {
  const [hits = []] = await retriever.search([query], k, { signal: context.signal });
  if (json === true) {
    const { fingerprint } = retriever;
    context.out(JSON.stringify({ query, hits, fingerprint }));
  } else if (hits.length === 0) {
    context.note("No passage was found.");
  } else {
    context.out(hitsText(hits));
  }
}

function hitsText(hits: readonly Hit[]): string {
  return renderText({
    columns: [
      { label: "", format: formatCount },
      { label: "", format: fixed(3) },
    ],
    rows: hits.map(({ id, title, text, score }, i) => [i + 1, score, id, title, shorten(text, 60)]),
  });
}
