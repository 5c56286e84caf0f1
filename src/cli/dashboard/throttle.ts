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
  /** Asks for it: done from a timer, never within this call, and once however often it was asked for meanwhile. */
  ask(): void;
  /** Calls off what was asked for. */
  stop(): void;
}

/** @param every milliseconds between two times at least. */
export function throttled(work: () => void, every: number, clock: Clock): Throttled {
  let last = -Infinity;
  let callOff: (() => void) | null = null;
  return {
    ask() {
      callOff ??= clock.later(Math.max(0, last + every - clock.now()), () => {
        callOff = null;
        last = clock.now();
        work();
      });
    },
    stop() {
      callOff?.();
      callOff = null;
    },
  };
}
