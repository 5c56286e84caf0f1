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
export function fuse(
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
