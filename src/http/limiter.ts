/** Lets a bounded number of tasks run at once. */
export interface Limiter {
  /**
   * Runs the task when its turn comes: first asked, first served.
   * @param signal an aborted wait rejects with the signal's reason and never runs; a running task sees to its own abort.
   */
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** @param limit tasks at once, at least 1. */
export function limiter(limit: number): Limiter {
  let running = 0;
  // A set keeps the order of arrival and forgets an aborted waiter at once.
  const waiting = new Set<() => void>();
  const release = (): void => {
    const [next] = waiting;
    if (next === undefined) running -= 1;
    else next(); // takes over the place
  };
  return {
    async run(task, signal) {
      signal?.throwIfAborted();
      if (running < limit) running += 1;
      else await turn(waiting, signal);
      try {
        return await task();
      } finally {
        release();
      }
    },
  };
}

function turn(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
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
}
