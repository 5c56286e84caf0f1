import type { Random } from "../../base/random.ts";

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
