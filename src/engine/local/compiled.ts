import type { Session } from "../../onnx/session.ts";

/** Compiled graphs by key, compiled on first use. */
export type Compiled<S> = (key: string, compile: () => Promise<S>) => Promise<S>;

/** Nodes of the kept graphs, 5 KB each: all that a run of a small model compiles, and eight of a deep one's. */
const KEPT_NODES = 130_000;

/** Graphs kept. */
export const mostGraphs = { training: 64, sampling: 8 };

/** An LRU cache of compiled graphs; the newest is always kept. */
export function compiled<S extends Pick<Session, "nodes" | "release"> = Session>(
  most: number,
): Compiled<S> {
  const kept = new Map<string, Promise<S>>();
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
