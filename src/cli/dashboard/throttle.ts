/** Time, injected so that a test need not wait. */
export interface Clock {
  /** Milliseconds from any fixed point. */
  now(): number;
  /** Calls back once, after a number of milliseconds; returns a function to cancel. */
  later(ms: number, call: () => void): () => void;
}

/** The process's clock; its timers do not keep the process alive. */
export const processClock: Clock = {
  now: () => performance.now(),
  later: (ms, call) => {
    const timer = setTimeout(call, ms).unref();
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Work that is requested more often than it is done. */
export interface Throttled {
  /**
   * Requests the work: it runs from a timer, never within this call, and once for all requests until then.
   * @param wait fewest milliseconds after the last time.
   */
  ask(wait: number): void;
  /** As `ask`, with a longer wait if the work is slow: it takes at most a fortieth of the time, or runs once in two seconds. */
  askSparingly(wait: number): void;
  /** Cancels the request. */
  stop(): void;
}

const MOST_SHARE = 1 / 40;
const LONGEST_WAIT = 2000;
/** Weight of the last duration in the mean. */
const NEWEST_SHARE = 0.25;

export function throttled(work: () => void, clock: Clock): Throttled {
  let last = -Infinity;
  /** Recent mean duration, milliseconds. */
  let cost: number | null = null;
  let pending: { due: number; callOff: () => void } | null = null;
  const stop = (): void => {
    pending?.callOff();
    pending = null;
  };
  const ask = (wait: number): void => {
    const due = Math.max(clock.now(), last + wait);
    if (pending !== null && pending.due <= due) return;
    stop();
    const callOff = clock.later(due - clock.now(), () => {
      pending = null;
      last = clock.now();
      work();
      const took = clock.now() - last;
      cost = (cost ?? took) + NEWEST_SHARE * (took - (cost ?? took));
    });
    pending = { due, callOff };
  };
  return {
    ask,
    askSparingly(wait) {
      ask(Math.max(wait, Math.min(LONGEST_WAIT, (cost ?? 0) / MOST_SHARE)));
    },
    stop,
  };
}
