import type { Session } from "../../onnx/session.ts";

/** Compiled graphs by key: each is compiled when first asked for. */
export type Compiled = (key: string, compile: () => Promise<Session>) => Promise<Session>;

/**
 * Keeps so many compiled graphs; the one not asked for longest gives way. Each holds some 10 KiB a node, so those of a deep model weigh
 * tens of megabytes.
 */
export function compiled(most: number): Compiled {
  const kept = new Map<string, Promise<Session>>();
  return async (key, compile) => {
    const found = kept.get(key) ?? compile();
    kept.delete(key);
    kept.set(key, found);
    const [oldest] = kept;
    if (kept.size > most && oldest !== undefined) {
      kept.delete(oldest[0]);
      await (await oldest[1]).release();
    }
    return found;
  };
}

/**
 * How many graphs a worker keeps. A step trains on some thirty shapes, one after the other: fewer kept than are in use would compile each
 * of them at every step, so only deep models, whose graphs are large, go without some. Of more than 64, the rest come up once in ten
 * steps or less (400 steps of search-r1's mini tier). Sampling uses few at one length of the cache.
 */
export function keptGraphs({ layers }: { layers: number }): { training: number; sampling: number } {
  return { training: Math.min(64, Math.max(32, Math.floor(512 / layers))), sampling: 8 };
}
