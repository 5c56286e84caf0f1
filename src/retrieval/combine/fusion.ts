import type { Hit } from "../retriever.ts";

interface Fused {
  hit: Hit;
  /** What each list that holds it adds. */
  parts: number[];
  bestRank: number;
  /** The first list in which it stands there. */
  bestList: number;
}

/**
 * One ranking of all passages of several, identified by id.
 *
 * @param partOf what place `rank` (from 0) of a list adds to its passage's score.
 * @returns best first; equal scores by best rank, then by the order of the lists. Of a passage twice in one list, the better
 *   place counts.
 */
function fuse(
  lists: readonly (readonly Hit[])[],
  partOf: (list: number, rank: number) => number,
): Hit[] {
  const byId = new Map<string, Fused>();
  lists.forEach((hits, list) => {
    const inList = new Set<string>();
    hits.forEach((hit, rank) => {
      if (inList.has(hit.id)) return;
      inList.add(hit.id);
      const fused = byId.get(hit.id);
      const part = partOf(list, rank);
      if (fused === undefined) {
        byId.set(hit.id, { hit, parts: [part], bestRank: rank, bestList: list });
      } else {
        fused.parts.push(part);
        if (rank < fused.bestRank) Object.assign(fused, { bestRank: rank, bestList: list });
      }
    });
  });
  // Added in ascending order: rounding then does not depend on the order of the lists.
  const scored = [...byId.values()].map(({ hit, parts, ...place }) => {
    return { hit: { ...hit, score: parts.sort((a, b) => a - b).reduce(add, 0) }, ...place };
  });
  scored.sort(
    (a, b) => b.hit.score - a.hit.score || a.bestRank - b.bestRank || a.bestList - b.bestList,
  );
  return scored.map(({ hit }) => hit);
}

function add(a: number, b: number): number {
  return a + b;
}

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

/** How the scores of one list are made comparable with those of the others. */
export const normalizations = ["min-max", "z-score", "none"] as const;

type Normalization = (typeof normalizations)[number];

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
