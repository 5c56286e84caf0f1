import type { Command } from "commander";

/** Options of a command above which its help has headings. */
const SHORT_HELP = 8;

/** The headings of long help, each with its options: an option means the same in every command. Others stand under "Options:". */
const HEADINGS: Readonly<Record<string, readonly string[]>> = {
  "Recipe and its settings:": [
    ...["--recipe", "--tier", "--set", "--plugin", "--seed", "--allow-ignored"],
  ],
  "Policy:": [
    ...["--policy", "--chat", "--no-chat", "--prompt", "--strategy", "--temperature"],
    ...["--samples", "--device", "--tokenizer", "--adapters", "--max-adapters"],
  ],
  "Model on a server:": [
    ...["--model", "--endpoint", "--api", "--api-key-env", "--max-tokens", "--concurrency"],
    ...["--timeout-ms", "--retries", "--price-in", "--price-out", "--cache", "--no-cache"],
  ],
  "Questions and passages:": [
    ...["--dataset", "--data", "--validation-data", "--questions", "--passages", "--split"],
    ...["--predictions", "--references", "--queries", "--qrels", "--run", "--limit", "--shuffle"],
    ...["--index", "--corpus", "--retriever"],
  ],
  "Names of fields in your files:": [
    ...["--question-field", "--answer-field", "--answer-separator", "--id-field", "--text-field"],
    ...["--title-field", "--references-field", "--prediction-field", "--verdict-field"],
  ],
  "BM25:": ["--variant", "--k1", "--b", "--delta", "--analyzer"],
  "Text embeddings:": [
    ...["--encoder", "--query-prefix", "--passage-prefix", "--pooling", "--inner-product"],
    ...["--vectors", "--graph", "--m", "--ef-construction", "--ef-search", "--dtype"],
  ],
  "Server:": [
    ...["--host", "--port", "--token-env", "--body-limit", "--timeout", "--max-queue"],
    ...["--top-k-limit", "--max-sessions", "--session-timeout", "--max-models", "--max-requests"],
  ],
  "Results:": [
    ...["--out", "--overwrite", "--resume", "--json", "--format", "--plain", "--reporter"],
    ...["--require", "--allow-errors", "--metrics", "--across"],
  ],
};

const headingOf = new Map(
  Object.entries(HEADINGS).flatMap(([heading, options]) =>
    options.map((option) => [option, heading] as const),
  ),
);

/** Puts the options of a command with many under headings. */
export function groupOptions(command: Command): void {
  if (command.options.length <= SHORT_HELP) return;
  for (const option of command.options) {
    const heading = headingOf.get(option.long ?? "");
    if (heading !== undefined) option.helpGroup(heading);
  }
}

/** Help items by heading, in the order of the headings; items without one follow. For commander's `configureHelp`. */
export function groupItems<T>(_: T[], shown: T[], groupOf: (item: T) => string): Map<string, T[]> {
  const headings = [...new Set([...Object.keys(HEADINGS), ...shown.map(groupOf)])];
  const groups = headings.map((heading): [string, T[]] => [
    heading,
    shown.filter((item) => groupOf(item) === heading),
  ]);
  return new Map(groups.filter(([, items]) => items.length > 0));
}
