import { createHash } from "node:crypto";
import { ConfigError } from "../../base/errors.ts";
import type { Passage } from "../../trajectory/task.ts";
import type { RetrieverContext } from "../retriever.ts";
import { passageLine } from "../store/passage-file.ts";
import type { Random } from "../../base/random.ts";

interface CorpusAtHand {
  passages: Passage[];
  /** SHA-256 of the passages' lines. */
  fingerprint: string;
}

/**
 * Reads the dataset's corpus.
 *
 * @param where the retriever, for the message.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the dataset has no passages.
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
 * The dataset's corpus, which can be streamed repeatedly.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the dataset has no passages.
 */
export function corpusOf(
  { corpus }: RetrieverContext,
  where: string,
): NonNullable<RetrieverContext["corpus"]> {
  if (corpus !== undefined) return corpus;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${where} searches a dataset's own passages, but this dataset has none. Choose a dataset with passages.`,
  );
}

/**
 * 0 … n − 1 in random order, drawn one by one: k draws cost O(k) time and memory, for any n. Fewer draws are a
 * prefix of more.
 */
export function* distinctDraws(n: number, random: Random): Generator<number> {
  // Fisher–Yates from the front; stores only the swapped places.
  const moved = new Map<number, number>();
  for (let i = 0; i < n; i++) {
    const j = i + random.int(n - i);
    yield moved.get(j) ?? j;
    moved.set(j, moved.get(i) ?? i);
    moved.delete(i);
  }
}
