/** The clock of the register of pending calls; tests replace it. */
export interface WaitClock {
  now(): number;
  /** Unix time in milliseconds: for messages only, never for a decision. */
  date(): number;
  timer(ms: number, run: () => void): WaitTimer;
}

export interface WaitTimer {
  /** Whether the timer keeps the process alive; initially it does. */
  hold(held: boolean): void;
  cancel(): void;
}

/** The real clock. */
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
