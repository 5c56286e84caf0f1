import type { WaitClock } from "../../src/base/waits/wait-clock.ts";

/** A clock that a test moves by hand. */
export interface HandClock extends WaitClock {
  /** Lets time pass: timers run when they are due, one after the other. */
  pass(ms: number): Promise<void>;
  /** Time passes while the process is stopped: timers that came due run afterwards, late. */
  stopFor(ms: number): Promise<void>;
  /** Somebody sets the clock on the wall. */
  setDate(date: string): void;
  /** Timers that are set. */
  readonly timers: number;
}

export function handClock(date = "2026-05-04T04:31:07.000Z"): HandClock {
  let now = 1000;
  let offset = Date.parse(date) - now;
  const timers = new Set<{ at: number; run: () => void }>();
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const runUntil = async (end: number, moves: boolean): Promise<void> => {
    for (;;) {
      const [first] = [...timers].sort((a, b) => a.at - b.at);
      if (first === undefined || first.at > end) break;
      timers.delete(first);
      if (moves) now = Math.max(now, first.at);
      first.run();
      await settle();
    }
    now = end;
  };
  return {
    now: () => now,
    date: () => now + offset,
    timer(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return { hold: () => undefined, cancel: () => void timers.delete(timer) };
    },
    pass: (ms) => runUntil(now + ms, true),
    async stopFor(ms) {
      now += ms;
      await runUntil(now, false);
    },
    setDate(text) {
      offset = Date.parse(text) - now;
    },
    get timers() {
      return timers.size;
    },
  };
}
