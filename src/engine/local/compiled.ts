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

/** Shapes of training graphs that a worker keeps, and of sampling graphs: few are in use at one length of the cache. */
export const KEPT_GRAPHS = { training: 24, sampling: 8 } as const;
