import { performance } from "node:perf_hooks";
import type { Hit, Retriever } from "../retrieval/retriever.ts";

/** Milliseconds that one slice may occupy the thread, which delays all other requests, including `/health`. */
const SLICE_MS = 4;
/** Maximum queries per slice. */
const SLICE_QUERIES = 64;
/** Characters of a slice's queries after which no further one is added: costs are learned from queries of usual length. */
const SLICE_CHARACTERS = 2 ** 13;
/** Weight of the newest slice in the estimate of a query's cost. */
const NEWEST = 0.25;

/** One request's queries. */
export interface FairRequest {
  queries: readonly string[];
  k: number;
  signal: AbortSignal;
  /** Receives the hits of the next queries, in order. If it throws, the search ends. */
  onHits: (hits: readonly Hit[][]) => void;
}

/** Searches for many requests at once without favouring any. */
export interface FairSearch {
  /** Slices in progress. */
  readonly running: number;
  /** @throws the signal's reason; errors of the retriever or `onHits`. */
  search(request: FairRequest): Promise<void>;
}

/**
 * Shares a retriever fairly among requests. Each request's queries are searched in slices, and after a slice the request goes
 * to the end of the queue: 10 000 queries delay a single one by a slice or two, not by all of them. A slice contains as
 * many queries as recently took 4 ms of thread time (1 to 64), whether the retriever
 * computes here or waits for a server; the event loop runs between slices.
 *
 * @param concurrency slices at once, from different requests.
 */
export function fairSearch(retriever: Retriever, concurrency: number): FairSearch {
  const line = new Set<() => void>();
  /** Milliseconds of this thread per query, by k, because hits have a cost too. */
  const costs = new Map<number, number>();
  let running = 0;
  /** Whether the next turn is scheduled. */
  let turning = false;
  /** In `performance` time. */
  let turnEnd = 0;

  const startSome = (): void => {
    for (const go of line) {
      if (running >= concurrency || performance.now() >= turnEnd) break;
      line.delete(go);
      go();
    }
  };
  /** Starts the next slices at once during the turn; after it, input and output come first. */
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

  /** Returns the number of searched queries. */
  const slice = async (request: FairRequest, from: number): Promise<number> => {
    const { queries, k, signal, onHits } = request;
    const some = firstOf(queries.slice(from, from + sliceSize(k)));
    const before = performance.eventLoopUtilization();
    running += 1;
    try {
      onHits(await unlessAborted(retriever.search(some, k, { signal }), signal));
      // This includes the time of other slices, which is about the same for each.
      const { active } = performance.eventLoopUtilization(before);
      learn(k, active / running / some.length);
      return some.length;
    } finally {
      running -= 1;
      callNext();
    }
  };
  /** Runs the work when its turn comes; an aborted request leaves the queue. */
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

function firstOf(queries: readonly string[]): readonly string[] {
  let characters = 0;
  const end = queries.findIndex(({ length }) => (characters += length) > SLICE_CHARACTERS);
  return end === -1 ? queries : queries.slice(0, Math.max(1, end));
}

/** Stops waiting for a retriever that ignores the abort, because other requests need its turn. */
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
