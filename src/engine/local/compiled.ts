import type { Session } from "../../onnx/session.ts";

/** Compiled graphs by key, compiled on first use. */
export type Compiled = (key: string, compile: () => Promise<Session>) => Promise<Session>;

/**
 * An LRU cache of compiled graphs. Each needs about 10 KiB per node, which is tens of megabytes for a deep
 * model.
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

/** Models with more layers are deep. */
const DEEP = 16;

/**
 * The number of graphs that a worker keeps. A step trains on about thirty shapes in turn: a smaller cache would recompile each
 * of them at every step. So only deep models get a smaller one: their graphs take up to 100 MB each, and a run of one takes several times as long as its
 * compilation. Shapes beyond the first 64 occur once in ten
 * steps or less (400 steps of search-r1's mini tier). On a device with its own memory, sampling uses few graphs per cache
 * length; in host memory it has one.
 */
export function keptGraphs({ layers }: { layers: number }): { training: number; sampling: number } {
  const training =
    layers <= DEEP ? Math.min(64, Math.max(32, Math.floor(512 / layers))) : Math.ceil(360 / layers);
  return { training, sampling: 8 };
}
