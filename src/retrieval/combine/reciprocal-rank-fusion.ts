import type { Hit } from "../retriever.ts";
import { fuse } from "./fuse.ts";

/**
 * Fuses rankings by rank alone: a passage scores Σ weight / (k + rank) over the lists that hold it, ranks from 1.
 *
 * @param lists hits of one query by each retriever, best first.
 * @param options.k 60 in the paper; a larger one tells the first ranks apart less.
 * @param options.weights one per list, not negative; all 1 when absent.
 * @returns best first; equal scores by best rank, then by the order of the lists. The same scores in whatever order the lists
 *   stand.
 *
 * Source: Cormack, Clarke and Büttcher, SIGIR 2009. Different here: lists may have weights.
 *
 * @example lists [a, b] and [b, c], k 60: b 1/62 + 1/61 = .03252, a 1/61 = .01639, c 1/62 = .01613
 */
export function reciprocalRankFusion(
  lists: readonly (readonly Hit[])[],
  { k = 60, weights }: { k?: number; weights?: readonly number[] | undefined } = {},
): Hit[] {
  return fuse(lists, (list, rank) => (weights?.[list] ?? 1) / (k + rank + 1));
}
