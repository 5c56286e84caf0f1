import { createHash } from "node:crypto";
import { ConfigError } from "../../base/errors.ts";
import type { Passage } from "../../trajectory/task.ts";
import type { RetrieverContext } from "../retriever.ts";
import { passageLine } from "../store/passage-store.ts";

/** A corpus read into memory. */
export interface CorpusAtHand {
  passages: Passage[];
  /** SHA-256 of the passages' lines. */
  fingerprint: string;
}

/**
 * Reads the corpus at hand.
 *
 * @param where names the retriever, for the message.
 * @throws {ConfigError} RECIPE_BAD_VALUE when there is none.
 */
export async function readCorpus(context: RetrieverContext, where: string): Promise<CorpusAtHand> {
  const passages: Passage[] = [];
  const hash = createHash("sha256");
  for await (const passage of corpusOf(context, where)()) {
    hash.update(`${passageLine(passage)}\n`);
    passages.push(passage);
  }
  return { passages, fingerprint: hash.digest("hex") };
}

/**
 * The corpus at hand, to be gone through any number of times.
 * @throws {ConfigError} RECIPE_BAD_VALUE when there is none.
 */
export function corpusOf(
  { corpus }: RetrieverContext,
  where: string,
): NonNullable<RetrieverContext["corpus"]> {
  if (corpus !== undefined) return corpus;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${where} needs a corpus at hand and there is none: it works over a dataset's own passages. Name a dataset that has passages.`,
  );
}
