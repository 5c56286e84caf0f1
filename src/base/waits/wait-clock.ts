/** Time as waits are measured by, so that tests need no clock. */
export interface WaitClock {
  /** Milliseconds since any moment; never goes back, whatever happens to the clock on the wall. */
  now(): number;
  /** Milliseconds of Unix time: for what people read, never for a decision. */
  date(): number;
  timer(ms: number, run: () => void): WaitTimer;
}

export interface WaitTimer {
  /** Whether it keeps the process going. It does from the start. */
  hold(held: boolean): void;
  cancel(): void;
}

/** The machine's own. */
export const systemClock: WaitClock = {
  now: () => performance.now(),
  date: () => Date.now(),
  timer(ms, run) {
    const timer = setTimeout(run, ms);
    return {
      hold: (held) => {
        if (held) timer.ref();
        else timer.unref();
      },
      cancel: () => {
        clearTimeout(timer);
      },
    };
  },
};
