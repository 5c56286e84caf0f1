import { setImmediate as turn } from "node:timers/promises";

/** Longest time without a turn of the event loop, in milliseconds. */
const TURN_MS = 50;

/**
 * As `map`, but lets the event loop turn in between: over a large batch a step computes for minutes, in which heartbeats would not be sent and
 * closed connections not be noticed. The results are those of `map`.
 */
export async function mapInTurns<T, R>(
  items: readonly T[],
  map: (item: T, index: number) => R,
): Promise<R[]> {
  const results: R[] = [];
  let since = performance.now();
  for (const [i, item] of items.entries()) {
    results.push(map(item, i));
    if (performance.now() - since < TURN_MS) continue;
    await turn();
    since = performance.now();
  }
  return results;
}
