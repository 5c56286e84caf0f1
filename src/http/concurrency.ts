import { setMaxListeners } from "node:events";
import type { HttpEnvironment } from "./endpoint.ts";

/**
 * Limits how many tasks run at once: `run` starts a task when its turn comes, first come, first served.
 * @param limit at least 1.
 * @returns run: a signal that aborts while the task waits rejects with its reason and drops the task; a running task must listen itself.
 */
export function limiter(limit: number): {
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
} {
  let running = 0;
  // A set keeps the order of arrival and forgets an aborted waiter at once.
  const waiting = new Set<() => void>();
  const turn = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const start = (): void => {
        waiting.delete(start);
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const abort = (): void => {
        waiting.delete(start);
        reject(signal?.reason as Error);
      };
      waiting.add(start);
      signal?.addEventListener("abort", abort, { once: true });
    });
  return {
    async run(task, signal) {
      signal?.throwIfAborted();
      if (running < limit) running += 1;
      else await turn(signal);
      try {
        return await task();
      } finally {
        const [next] = waiting;
        if (next === undefined) running -= 1;
        else next(); // takes over the slot
      }
    },
  };
}

interface Pace {
  /**
   * Resolves when all earlier units are paid for, first come, first served.
   * @param units the expected use; `correct` adjusts an estimate.
   * @param signal aborted while waiting: rejects with the signal's reason and takes nothing.
   */
  take(units: number, signal: AbortSignal | undefined): Promise<void>;
  /** Adds the difference between actual and expected units; may be negative. */
  correct(units: number): void;
}

/**
 * A token bucket without burst: units are earned evenly, and each caller waits until earlier units are paid for.
 * The rate therefore holds in every time window.
 *
 * @param perMinute units a minute; null: as fast as asked.
 * @example pace(60, …) // one at 0 s, the next at 1 s
 */
export function pace(
  perMinute: number | null,
  { now, sleep }: Pick<HttpEnvironment, "now" | "sleep">,
): Pace {
  if (perMinute === null) return { take: () => Promise.resolve(), correct: () => undefined };
  const msPerUnit = 60_000 / perMinute;
  let freeAt = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(units, signal) {
      const taken = last.then(async () => {
        signal?.throwIfAborted();
        // A timer may fire early, and a correction may arrive meanwhile.
        for (let ms = freeAt - now(); ms > 0; ms = freeAt - now()) await sleep(ms, signal);
        freeAt = Math.max(freeAt, now()) + units * msPerUnit;
      });
      last = taken.catch(() => undefined);
      return signal === undefined ? taken : unlessAborted(taken, signal);
    },
    correct(units) {
      freeAt += units * msPerUnit;
    },
  };
}

/** Rejects an aborted waiter at once; the waiters behind it keep their order. */
function unlessAborted(taken: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void taken.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/**
 * Runs all requests at once and returns their results in order. When one fails or the caller aborts, it aborts the others, waits
 * for them to end and throws the first failure: no request outlives the call.
 *
 * @param ask one request; the client bounds how many run (`concurrency`).
 */
export async function allOrAbort<T, R>(
  items: readonly T[],
  ask: (item: T, signal: AbortSignal) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  signal?.throwIfAborted();
  const all = new AbortController();
  setMaxListeners(0, all.signal);
  const stop = (): void => all.abort(signal?.reason);
  if (signal !== undefined) setMaxListeners(0, signal); // a run's signal has one listener per search
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const outcomes = await Promise.allSettled(
      items.map(async (item) => {
        try {
          return await ask(item, all.signal);
        } catch (error) {
          all.abort(error); // only the first call sets the reason
          throw error;
        }
      }),
    );
    return outcomes.map((outcome) => {
      if (outcome.status === "rejected") throw all.signal.reason;
      return outcome.value;
    });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
