import { setMaxListeners } from "node:events";

/**
 * Asks for all items at once; results in the order of the items. When one fails, or the caller aborts, the others are
 * aborted and awaited, and the first failure is thrown: nothing goes on behind the caller's back.
 *
 * @param ask bounded by whoever it asks (the client's `concurrency`).
 */
export async function together<T, R>(
  items: readonly T[],
  ask: (item: T, signal: AbortSignal) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  signal?.throwIfAborted();
  const all = new AbortController();
  setMaxListeners(0, all.signal);
  const stop = (): void => {
    all.abort(signal?.reason);
  };
  if (signal !== undefined) setMaxListeners(0, signal); // a run's signal has a listener per search
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const outcomes = await Promise.allSettled(
      items.map(async (item) => {
        try {
          return await ask(item, all.signal);
        } catch (error) {
          all.abort(error); // only the first call gives the reason
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
