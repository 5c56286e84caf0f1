/** Time, injected so that a test need not wait. */
export interface Clock {
  /** Milliseconds from any fixed point. */
  now(): number;
  /** Calls back once, after so many milliseconds; returns how to call it off. */
  later(ms: number, call: () => void): () => void;
}

/** The process's own time; what waits does not keep the process. */
export const processClock: Clock = {
  now: () => performance.now(),
  later: (ms, call) => {
    const timer = setTimeout(call, ms).unref();
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Work that is asked for more often than it is done. */
export interface Throttled {
  /**
   * Asks for it: done from a timer, never within this call, and once however often it was asked for meanwhile.
   * @param wait milliseconds after the last time, at least.
   */
  ask(wait: number): void;
  /** As `ask`, with a longer wait where the work has lately taken long: at most a fortieth of the time, or once in two seconds. */
  askSparingly(wait: number): void;
  /** Calls off what was asked for. */
  stop(): void;
}

const MOST_SHARE = 1 / 40;
const LONGEST_WAIT = 2000;
/** How much the last time counts in what the work takes. */
const NEWEST_SHARE = 0.25;

export function throttled(work: () => void, clock: Clock): Throttled {
  let last = -Infinity;
  /** Milliseconds that it takes, of late. */
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
