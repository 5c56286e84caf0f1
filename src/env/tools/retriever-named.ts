import { ConfigError } from "../../base/errors.ts";
import { suggest } from "../../base/nearest.ts";
import type { Retriever } from "../../retrieval/retriever.ts";
import type { ToolResources } from "./tool.ts";

/** The same retriever under each name: for environments that are made for their grammar, or whose strategy never searches. */
export function allNamed(names: Iterable<string>, retriever: Retriever): Record<string, Retriever> {
  return Object.fromEntries([...names].map((name) => [name, retriever]));
}

/**
 * One of the recipe's `retrievers`, or its `retriever` where no name is given.
 * @throws {ConfigError} PART_UNKNOWN with the nearest name.
 */
export function retrieverNamed(
  name: string | undefined,
  { retriever, retrievers = {} }: ToolResources,
): Retriever {
  if (name === undefined) return retriever;
  const found = retrievers[name];
  if (found !== undefined) return found;
  const known = Object.keys(retrievers);
  const hint = known.length === 0 ? "The recipe has no retrievers." : suggest(name, known);
  throw new ConfigError(
    "PART_UNKNOWN",
    `environment.tools: retriever is "${name}"; the recipe's retrievers have no such name. ${hint}`,
  );
}
