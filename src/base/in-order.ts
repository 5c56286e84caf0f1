/** How work on a stream of items goes on and ends. */
export interface OrderedWork<R> {
  signal: AbortSignal;
  /** Its signal is what work under way should listen to: aborted with `signal`, and when anything fails. */
  halt: AbortController;
  /** Items under way together. */
  window: number;
  /** Called with each result in the items' order; several may be under way, begun in that order. */
  take: (result: R) => Promise<void>;
}

/**
 * Works on a window of items at a time and hands over the results in the items' order. When it ends early, by the signal or a
 * failure, it halts what is under way and waits for it.
 */
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
  const underWay: Promise<R>[] = [];
  const takings = openTakings(take);
  let ended = false;
  const fill = async (): Promise<void> => {
    while (!ended && underWay.length < window) {
      const item = await items.next();
      if (item.done === true) ended = true;
      else {
        const result = work(item.value);
        // Told of when its turn comes, or dropped with the rest.
        result.catch((error: unknown) => {
          halt.abort(error);
        });
        underWay.push(result);
      }
    }
  };
  try {
    await fill();
    for (let first = underWay.shift(); first !== undefined; first = underWay.shift()) {
      const result = await first;
      signal.throwIfAborted();
      await fill();
      takings.begin(result);
      if (takings.count() >= window || takings.failed()) await takings.settle();
    }
    await takings.settle();
  } catch (error) {
    halt.abort(error);
    await Promise.allSettled([...underWay, takings.settle(), items.return?.()]);
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Results that are being taken: begun in order, several at once, so that what is written goes together. */
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
    /** @throws what the first of them failed with. */
    async settle(): Promise<void> {
      await Promise.all(open);
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** After so many failures in a row, a server or a tool is down. */
const GIVE_UP_AFTER = 24;

/**
 * Counts failures in a row of work that costs time or money to try.
 * @returns of `add`: how many there were in a row when it is time to give up, else null.
 */
export function openFailureStreak(): { add(failed: boolean): number | null } {
  let inARow = 0;
  return {
    add(failed) {
      inARow = failed ? inARow + 1 : 0;
      return inARow < GIVE_UP_AFTER ? null : inARow;
    },
  };
}
