import type { Hit } from "../retriever.ts";
import { fuse } from "./fuse.ts";

/** How the scores of one list are made comparable with those of the others. */
export const normalizations = ["min-max", "z-score", "none"] as const;

/** See `weightedFusion`. */
export type Normalization = (typeof normalizations)[number];

/**
 * Fuses rankings by score: a passage scores Σ weight × normalised score over the lists that hold it.
 *
 * @param lists hits of one query by each retriever, best first.
 * @param options.weights one per list, not negative; all 1 when absent.
 * @param options.normalize `min-max` (when absent): (score − lowest) / (highest − lowest) of the list. `z-score`:
 *   (score − lowest) / the list's population deviation, which is the z-score moved so that the lowest is 0. `none`: as they are.
 *   Under the first two, a passage that a list lacks counts there like its lowest one, and equal scores all count 1.
 * @returns best first; equal scores by best rank, then by the order of the lists.
 *
 * @example lists [a 10, b 6, c 2] and [b 3, d 1], min-max: b 0.5 + 1 = 1.5, a 1, c 0, d 0
 */
export function weightedFusion(
  lists: readonly (readonly Hit[])[],
  {
    weights,
    normalize = "min-max",
  }: { weights?: readonly number[] | undefined; normalize?: Normalization } = {},
): Hit[] {
  const scores = lists.map((hits, list) => {
    const weight = weights?.[list] ?? 1;
    return normalized(hits, normalize).map((score) => weight * score);
  });
  return fuse(lists, (list, rank) => scores[list]![rank]!);
}

function normalized(hits: readonly Hit[], normalize: Normalization): number[] {
  const scores = hits.map(({ score }) => score);
  if (normalize === "none" || scores.length === 0) return scores;
  const lowest = Math.min(...scores);
  const spread = normalize === "min-max" ? Math.max(...scores) - lowest : deviation(scores);
  // Equal scores are told by the range: a rounded mean would leave dust in the deviation.
  if (Math.max(...scores) === lowest) return scores.map(() => 1);
  return scores.map((score) => (score - lowest) / spread);
}

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / values.length);
}
