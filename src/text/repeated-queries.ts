import { normalizeAnswer } from "./answer-normalizations.ts";

/**
 * Share of queries that repeat an earlier one, after squad normalisation.
 *
 * @param isRepeated whether a query counts as a repetition of any of those before it; by default one that has the same words in the
 *   same order.
 * @returns null where nothing was searched for.
 * @example repeatedQueryShare(["the seat", "seat", "Oslo"]) // 1/3
 */
export function repeatedQueryShare(
  queries: readonly string[],
  isRepeated: (query: string, earlier: readonly string[]) => boolean = (query, earlier) =>
    earlier.includes(query),
): number | null {
  if (queries.length === 0) return null;
  const normal = queries.map((query) => normalizeAnswer(query));
  const repeated = normal.filter((query, i) => isRepeated(query, normal.slice(0, i)));
  return repeated.length / queries.length;
}
