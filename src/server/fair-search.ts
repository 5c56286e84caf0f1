import { performance } from "node:perf_hooks";
import type { Hit, Retriever } from "../retrieval/retriever.ts";

/** Milliseconds that one slice may keep the thread: what everybody else waits for, `/health` among them. */
const SLICE_MS = 4;
/** Queries of one slice at most. */
const SLICE_QUERIES = 64;
/** Weight of the newest slice in the estimate of a query's cost. */
const NEWEST = 0.25;

/** One request's queries. */
export interface FairRequest {
  queries: readonly string[];
  k: number;
  signal: AbortSignal;
  /** Called with the hits of the next queries, in order. May throw, which ends the search. */
  onHits: (hits: readonly Hit[][]) => void;
}

/** Searches for many requests at once, no one of them at the price of the others. */
export interface FairSearch {
  /** Slices that are being searched. */
  readonly running: number;
  /** @throws the signal's reason; what the retriever or `onHits` throws. */
  search(request: FairRequest): Promise<void>;
}

/**
 * Shares a retriever among requests. Each request's queries are searched in slices, and after a slice the request goes
 * to the back of the line: 10 000 queries delay a single one by a slice or two, not by all of them. A slice holds as
 * many queries as have lately kept the thread busy for 4 ms in all (one at least, 64 at most), whether the retriever
 * computes here or waits for a server; between slices the event loop turns.
 *
 * @param concurrency slices at once, from different requests.
 */
export function fairSearch(retriever: Retriever, concurrency: number): FairSearch {
  const line = new Set<() => void>();
  /** By k, since hits cost too: milliseconds of this thread per query. */
  const costs = new Map<number, number>();
  let running = 0;
  /** Whether a turn is to come. */
  let turning = false;
  /** By the clock of `performance`. */
  let turnEnd = 0;

  const startSome = (): void => {
    for (const go of line) {
      if (running >= concurrency || performance.now() >= turnEnd) break;
      line.delete(go);
      go();
    }
  };
  /** The next ones at once while the turn lasts; then input and output come first. */
  const callNext = (): void => {
    startSome();
    if (turning || line.size === 0 || running >= concurrency) return;
    turning = true;
    setImmediate(() => {
      turning = false;
      turnEnd = performance.now() + SLICE_MS;
      callNext();
    });
  };

  const sliceSize = (k: number): number => {
    const cost = costs.get(k);
    if (cost === undefined) return 1;
    return Math.min(Math.max(Math.floor(SLICE_MS / cost), 1), SLICE_QUERIES);
  };
  const learn = (k: number, cost: number): void => {
    const before = costs.get(k) ?? cost;
    costs.set(k, Math.max(before + NEWEST * (cost - before), 1e-3));
  };

  /** Returns how many queries it took. */
  const slice = async (request: FairRequest, from: number): Promise<number> => {
    const { queries, k, signal, onHits } = request;
    const some = queries.slice(from, from + sliceSize(k));
    const before = performance.eventLoopUtilization();
    running += 1;
    try {
      onHits(await unlessAborted(retriever.search(some, k, { signal }), signal));
      // What other slices did meanwhile is in it too, about the same for each.
      const { active } = performance.eventLoopUtilization(before);
      learn(k, active / running / some.length);
      return some.length;
    } finally {
      running -= 1;
      callNext();
    }
  };
  /** Does the work when the line comes to it; an aborted request leaves the line. */
  const inLine = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        line.delete(go);
        reject(signal.reason as Error);
      };
      const go = (): void => {
        signal.removeEventListener("abort", leave);
        resolve(work());
      };
      if (signal.aborted) {
        leave();
        return;
      }
      signal.addEventListener("abort", leave, { once: true });
      line.add(go);
      callNext();
    });

  return {
    get running() {
      return running;
    },
    async search(request) {
      const { queries, signal } = request;
      for (let at = 0; at < queries.length;) at += await inLine(signal, () => slice(request, at));
    },
  };
}

/** A retriever that hangs on is left alone: its place in the line is needed. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", stop);
    });
  });
}
