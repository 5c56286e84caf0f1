import { expect } from "vitest";

/** Something found, by whatever names it. */
export interface Ranked {
  id: string | number;
  score: number;
}

/**
 * Asserts that `found` are the k best of `all`: rank by rank the same score, and everything found at its own score. Equal
 * scores may come in any order: their sums can differ in the last bits.
 *
 * @param all everything that has a score, best first.
 */
export function expectBestOf(
  all: readonly Ranked[],
  found: readonly Ranked[],
  k: number,
  what: string,
): void {
  const tolerance = 1e-9;
  expect(found.length, `${what}: number of hits`).toBe(Math.min(k, all.length));
  expect(new Set(found.map(({ id }) => id)).size, `${what}: distinct hits`).toBe(found.length);
  const scores = new Map(all.map(({ id, score }) => [id, score]));
  for (const [rank, { id, score }] of found.entries()) {
    const own = scores.get(id) ?? Number.NaN;
    const best = all[rank]!.score;
    const isRight =
      Math.abs(own - score) <= tolerance * Math.max(1, score) &&
      Math.abs(best - score) <= tolerance * Math.max(1, score);
    if (!isRight) {
      expect.fail(
        `${what}, rank ${rank + 1}: ${id} at ${score}; its own is ${own}, the rank's ${best}`,
      );
    }
  }
}
