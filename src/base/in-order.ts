/** Bounds and callbacks of work on a stream of items. */
export interface OrderedWork<R> {
  signal: AbortSignal;
  /** Work in progress must listen to its signal: aborted with `signal`, and on any failure. */
  halt: AbortController;
  /** Items worked on at once. Up to AHEAD times as many wait, done, for an earlier one, so that a slow item leaves no place empty. */
  window: number;
  /** Receives the results in the items' order. Several calls may run at once; they start in that order. */
  take: (result: R) => Promise<void>;
}

const AHEAD = 8;

/** Works on a window of items at a time, delivers in order; a failure or the signal aborts the work in progress, and waits for it. */
export async function inOrder<T, R>(
  items: AsyncIterator<T>,
  work: (item: T) => Promise<R>,
  { signal, halt, window, take }: OrderedWork<R>,
): Promise<void> {
  signal.throwIfAborted();
  const stop = (): void => {
    halt.abort(signal.reason);
  };
  signal.addEventListener("abort", stop);
  const undelivered: { result: Promise<R>; isDone: boolean }[] = [];
  const takings = openTakings(take);
  let open = 0;
  let ended = false;
  let onDone = (): void => undefined;
  const begin = (item: T): void => {
    const begun = { result: work(item), isDone: false };
    undelivered.push(begun);
    open += 1;
    begun.result
      // An error is thrown when its turn comes, or dropped with the rest.
      .catch((error: unknown) => {
        halt.abort(error);
      })
      .finally(() => {
        begun.isDone = true;
        open -= 1;
        onDone();
      });
  };
  try {
    for (;;) {
      while (!ended && open < window && undelivered.length < AHEAD * window) {
        const item = await items.next();
        if (item.done === true) ended = true;
        else begin(item.value);
      }
      const [first] = undelivered;
      if (first === undefined) break;
      if (!first.isDone) {
        await new Promise<void>((resolve) => (onDone = resolve));
        continue;
      }
      undelivered.shift();
      const result = await first.result;
      signal.throwIfAborted();
      takings.begin(result);
      if (takings.count() >= window || takings.failed()) await takings.settle();
    }
    await takings.settle();
  } catch (error) {
    halt.abort(error);
    await Promise.allSettled([
      ...undelivered.map(({ result }) => result),
      takings.settle(),
      items.return?.(),
    ]);
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function openTakings<R>(take: (result: R) => Promise<void>) {
  const open = new Set<Promise<void>>();
  const failures: unknown[] = [];
  return {
    begin(result: R): void {
      const taking: Promise<void> = take(result)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => open.delete(taking));
      open.add(taking);
    },
    count: () => open.size,
    failed: () => failures.length > 0,
    /** @throws the error of the first `take` that failed. */
    async settle(): Promise<void> {
      await Promise.all(open);
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** After this many failures in a row, a server or a tool is down. */
const GIVE_UP_AFTER = 24;

/** Counts failures in a row of expensive work. @returns of `add`: the number of failures in a row when it is time to give up, else null. */
export function openFailureStreak(): { add(failed: boolean): number | null } {
  let inARow = 0;
  return {
    add(failed) {
      inARow = failed ? inARow + 1 : 0;
      return inARow < GIVE_UP_AFTER ? null : inARow;
    },
  };
}

/** As `Promise.all`, but fails only after all work has ended. */
export async function allSettled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
