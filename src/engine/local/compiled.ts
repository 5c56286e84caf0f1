import type { Session } from "../../onnx/session.ts";

/** Compiled graphs by key, compiled on first use. */
export type Compiled = (key: string, compile: () => Promise<Session>) => Promise<Session>;

/** Nodes of the kept graphs, 5 KB each: the thirty shapes of a small model fit; a deep one's runs outweigh its compilations. */
const KEPT_NODES = 130_000;

/** Graphs kept. Training: shapes beyond the first 64 occur once in ten steps or less (400 steps of search-r1's mini tier). */
export const mostGraphs = { training: 64, sampling: 8 };

/** An LRU cache of compiled graphs; the newest is always kept. */
export function compiled(most: number): Compiled {
  const kept = new Map<string, Promise<Session>>();
  return async (key, compile) => {
    const found = kept.get(key) ?? compile();
    kept.delete(key);
    const session = await found;
    kept.set(key, found);
    let nodes = 0;
    let count = 0;
    for (const [each, graph] of [...kept].reverse()) {
      const own = await graph;
      nodes += own.nodes;
      count += 1;
      if (count === 1 || (count <= most && nodes <= KEPT_NODES)) continue;
      kept.delete(each);
      await own.release();
    }
    return session;
  };
}

/** How many graphs are kept of this mean size. */
export function keptGraphs(most: number, nodes: number): number {
  return Math.max(1, Math.min(most, Math.floor(KEPT_NODES / nodes)));
}
