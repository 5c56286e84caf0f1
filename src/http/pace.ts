import type { HttpEnvironment } from "./endpoint.ts";

/** Keeps to so many units a minute. */
export interface Pace {
  /**
   * Resolves when what was taken before has been earned: first come, first served.
   * @param units that will be spent; an estimate may be put right by `correct`.
   * @param signal an aborted wait rejects with the signal's reason and takes nothing.
   */
  take(units: number, signal: AbortSignal | undefined): Promise<void>;
  /** More units were spent than were taken, or fewer where it is negative. */
  correct(units: number): void;
}

/**
 * A token bucket that holds nothing over: units are earned evenly, and whoever takes some waits until those before are paid for.
 * Any stretch of time so keeps to the rate, whichever window a server counts in.
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
        // A timer may come early, and a correction may come while it runs.
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

/** Those behind an aborted wait still wait for it to find out; the one who aborted does not. */
function unlessAborted(taken: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void taken.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", abort);
    });
  });
}
