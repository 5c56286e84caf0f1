import { recallOf } from "../bench-index.ts";
import type { Bm25Retriever } from "./bm25.ts";
import { deadIn } from "./check-index.ts";
import { exactBm25 } from "./exact-bm25.ts";

/**
 * Share of the formula's k best passages that an index finds; the formula reads and analyses every passage.
 * @returns null when no query has a hit.
 */
export async function exactRecall(
  retriever: Bm25Retriever,
  queries: readonly string[],
  k: number,
): Promise<number | null> {
  const { passages, analyzer, parameters } = retriever;
  const found = await retriever.search(queries, k);
  const exact = exactBm25(passages, analyzer, parameters, {
    queries: queries.map((query) => analyzer.analyze(query)),
    isDead: deadIn(retriever),
  });
  const named = exact.map((all) => {
    const worst = all[Math.min(k, all.length) - 1]?.score ?? 0;
    return all
      .filter(({ score }) => score >= worst - 1e-9)
      .map(({ position, score }) => ({ id: passages.read(position).id, score }));
  });
  return recallOf(found, named, k);
}
