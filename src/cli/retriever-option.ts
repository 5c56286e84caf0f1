import { ConfigError } from "../base/errors.ts";
import { withParts } from "../base/registry.ts";
import { parseOptions } from "../base/schema.ts";
import { isServerAddress } from "../http/http-options.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { type Flags, options } from "./options.ts";
import { usage } from "./usage.ts";

/** Any retriever: the address of a server, or YAML: `none`, `{ name: bm25, index: IDX }`. @param instead of what. */
export function retrieverFlag(instead: string) {
  return [
    "<name>",
    `instead of ${instead}: address of a server with Search-R1's POST /retrieve, such as \`agentrl serve\` (http://host:port); ` +
      'or any retriever, e.g. "{ name: bm25, index: IDX }"',
  ] as const;
}

/** What --retriever gives, not checked: a value of the setting `retriever`. @throws {ConfigError} RECIPE_NOT_YAML */
export async function retrieverValue(text: string): Promise<unknown> {
  if (isServerAddress(text)) return { name: "search-r1-server", url: text };
  const { parseYamlValue } = await import("../base/yaml.ts");
  return parseYamlValue(text, "--retriever");
}

/** Any retriever and its corpus. @param instead of what. */
export function anyRetriever(instead: string) {
  return options({
    retriever: retrieverFlag(instead),
    corpus: ["<file>", "passages for a --retriever without an index of its own"],
  });
}

/** Options of every command that searches. */
export const RETRIEVER_OPTIONS = options({
  index: ["<folder>", "made by `agentrl index build`"],
  ...anyRetriever("--index"),
});

export type RetrieverFlags = Flags<typeof RETRIEVER_OPTIONS>;

/**
 * Opens what the flags name; the caller closes it.
 *
 * @throws {ConfigError} USAGE unless exactly one of --index and --retriever is given, and --corpus only beside --retriever;
 *    RECIPE_NOT_YAML, RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE, PART_UNKNOWN for the value of --retriever.
 * @throws the errors of opening it: INDEX_MISSING, INDEX_CORRUPT, …
 */
export async function openRetrieverFlags(flags: RetrieverFlags): Promise<Retriever> {
  checkRetrieverFlags(flags);
  const { index, retriever = "", corpus } = flags;
  return index === undefined ? openNamed(retriever, corpus) : openIndexFolder(index);
}

/** Checks the flags before anything is opened. @throws {ConfigError} USAGE */
export function checkRetrieverFlags({ index, retriever, corpus }: RetrieverFlags): void {
  const wrong =
    index === undefined && retriever === undefined
      ? "--index or --retriever is missing: name an index folder made by `agentrl index build`, or a retriever."
      : index !== undefined && retriever !== undefined
        ? "--index and --retriever are both given: an index is searched as it is, so leave one of them out."
        : index !== undefined && corpus !== undefined
          ? "--corpus is given beside --index: an index has its own passages. Leave one of them out."
          : undefined;
  if (wrong !== undefined) throw usage(wrong);
}

/** Loads the runtime of indexes only when one is opened, not for --help. */
async function openIndexFolder(folder: string): Promise<Retriever> {
  return (await import("../retrieval/open-index-folder.ts")).openIndexFolder(folder);
}

async function openNamed(text: string, corpus: string | undefined): Promise<Retriever> {
  const [{ openRetriever, retrieverSchema }, { readPassages }] = await Promise.all([
    import("../retrieval/index.ts"),
    import("../data/passages.ts"),
  ]);
  const value = await retrieverValue(text);
  const settings = await withParts(() => parseOptions(retrieverSchema, value, "--retriever"));
  try {
    return await openRetriever(
      settings,
      corpus === undefined ? undefined : () => readPassages(corpus),
    );
  } catch (error) {
    // Errors of parts name only their keys; the flag is added here.
    if (!(error instanceof ConfigError)) throw error;
    const flags = corpus === undefined ? "--retriever (without --corpus)" : "--retriever";
    throw new ConfigError(error.code, `${flags}: ${error.message}`, { cause: error });
  }
}
