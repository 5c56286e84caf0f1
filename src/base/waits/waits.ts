/**
 * The register of waits for what is outside: tools, servers, the engine's threads, disks. Each has an owner and a deadline; past it the
 * wait is over, however deaf the other side is, and while it lasts somebody can be told who waits for what and since when.
 *
 * Thousands of waits share one timer. Time is counted as the process lived through it: while it was stopped (SIGSTOP, a suspended
 * machine) or its thread was busy for more than a second, nobody could have answered, so that does not count.
 */
import { abortLinks } from "./abort-links.ts";
import type { LongWait } from "./long-wait.ts";
import { longWaitMessage } from "./long-wait.ts";
import { systemClock, type WaitClock, type WaitTimer } from "./wait-clock.ts";

export interface Wait {
  /** Who or what is waited for: `tool corpus-search`, `engine worker 2`. */
  owner: string;
  /** What for, asked when it is told: `trajectory 3-1-2 (query "…")`. */
  subject: () => string;
}

export interface WaitBounds {
  /** Milliseconds after which it is over; null: nothing ends it but its end. */
  deadlineMs: number | null;
  /** A number that changes while there is life, looked at every second: time counts from its last change. */
  progress?: () => number;
  /** Told once when the deadline has passed; the wait is no longer registered then. */
  onDeadline?: (wait: LongWait) => void;
}

/** A wait under way. */
export interface OpenWait {
  /** There was life: time counts anew. */
  renew(): void;
  /** It is over. Calling it again does nothing. */
  end(): void;
}

export interface WaitOptions {
  deadlineMs: number | null;
  /** Of the caller: the work is aborted by it, and then waited for up to the deadline. */
  signal?: AbortSignal | undefined;
  /** The error past the deadline. */
  late: (wait: LongWait) => Error;
}

export interface WaitWatch {
  /** How long a wait lasts before it is told, and how often is looked. */
  noticeMs: number;
  /** One call per owner and look, about its longest wait that was not told yet. A wait is told again each time its age has doubled. */
  onLong: (message: string, wait: LongWait) => void;
}

export interface Waits {
  /** Waits that have not ended. */
  readonly size: number;
  begin(wait: Wait, bounds: WaitBounds): OpenWait;
  /**
   * Waits for some work, until its deadline: its signal is aborted then, and what it still does is ignored.
   * @throws what the work throws; what `late` makes, past the deadline; the caller's reason when it has aborted before.
   */
  waitFor<T>(
    wait: Wait,
    options: WaitOptions,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Tells of waits that last, until it is closed. Keeps no process going. */
  watch(watch: WaitWatch): { close(): void };
}

/** Longest time between two looks at the clock, and what a look may be late by without the time being lost. */
const LOOK_MS = 1000;

interface Entry {
  readonly wait: Wait;
  readonly bounds: WaitBounds;
  since: number;
  progress: number;
  ended: boolean;
}

class Register implements Waits {
  readonly #clock: WaitClock;
  /** By deadline, in order of `since`. */
  readonly #queues = new Map<number | null, Set<Entry>>();
  /** Those with signs of life, in any order. */
  readonly #living = new Set<Entry>();
  readonly #links = abortLinks();
  #size = 0;
  #lostMs = 0;
  #timer: WaitTimer | null = null;
  #lookAt = 0;

  constructor(clock: WaitClock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#size;
  }

  begin(wait: Wait, bounds: WaitBounds): OpenWait {
    const since = this.#now();
    const entry: Entry = { wait, bounds, since, progress: bounds.progress?.() ?? 0, ended: false };
    this.#place(entry).add(entry);
    this.#size += 1;
    if (this.#size === 1) this.#timer?.hold(true);
    const { deadlineMs } = bounds;
    const isSoon = deadlineMs !== null && deadlineMs < LOOK_MS;
    if (this.#timer === null || isSoon) this.#look(isSoon ? deadlineMs : LOOK_MS);
    return {
      renew: () => {
        if (entry.ended) return;
        const place = this.#place(entry);
        place.delete(entry);
        entry.since = this.#now();
        place.add(entry);
      },
      end: () => {
        this.#end(entry);
      },
    };
  }

  async waitFor<T>(
    wait: Wait,
    { deadlineMs, signal, late }: WaitOptions,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const stop = new AbortController();
    const unlink = signal === undefined ? null : this.#links.link(signal, stop);
    let open: OpenWait | null = null;
    const deadline = new Promise<never>((_, reject) => {
      const onDeadline = (waited: LongWait): void => {
        const error = late(waited);
        reject(error);
        stop.abort(error);
      };
      open = this.begin(wait, { deadlineMs, onDeadline });
    });
    try {
      return await Promise.race([work(stop.signal), deadline]);
    } finally {
      (open as OpenWait | null)?.end();
      unlink?.();
    }
  }

  watch({ noticeMs, onLong }: WaitWatch): { close(): void } {
    const told = new WeakMap<Entry, number>();
    let timer: WaitTimer;
    const rest = (): void => {
      timer = this.#clock.timer(noticeMs, look);
      timer.hold(false);
    };
    const look = (): void => {
      for (const [first, others] of this.#longest(noticeMs, told)) {
        const wait = this.#described(first, others);
        told.set(first, wait.waitedMs);
        onLong(longWaitMessage(wait), wait);
      }
      rest();
    };
    rest();
    return {
      close: () => {
        timer.cancel();
      },
    };
  }

  /** By owner: its longest wait that is to be told, and how many others last. */
  *#longest(noticeMs: number, told: WeakMap<Entry, number>): Generator<[Entry, number]> {
    const now = this.#now();
    const owners = new Map<string, { due: Entry | null; count: number }>();
    const note = (entry: Entry): void => {
      const { owner } = entry.wait;
      const of = owners.get(owner) ?? { due: null, count: 0 };
      of.count += 1;
      const isDue = now - entry.since >= 2 * (told.get(entry) ?? 0);
      if (isDue && entry.since < (of.due?.since ?? Infinity)) of.due = entry;
      owners.set(owner, of);
    };
    this.#refresh(now);
    for (const queue of this.#queues.values()) {
      for (const entry of queue) {
        if (now - entry.since < noticeMs) break;
        note(entry);
      }
    }
    for (const entry of this.#living) if (now - entry.since >= noticeMs) note(entry);
    for (const { due, count } of owners.values()) if (due !== null) yield [due, count - 1];
  }

  #described({ wait, bounds, since }: Entry, others = 0): LongWait {
    const waitedMs = Math.round(this.#now() - since);
    return {
      ...{ owner: wait.owner, subject: wait.subject(), waitedMs },
      since: new Date(this.#clock.date() - waitedMs).toISOString(),
      ...{ deadlineMs: bounds.deadlineMs, others },
    };
  }

  #now(): number {
    return this.#clock.now() - this.#lostMs;
  }

  #place({ bounds }: Pick<Entry, "bounds">): Set<Entry> {
    if (bounds.progress !== undefined) return this.#living;
    let queue = this.#queues.get(bounds.deadlineMs);
    if (queue === undefined) this.#queues.set(bounds.deadlineMs, (queue = new Set()));
    return queue;
  }

  #end(entry: Entry): void {
    if (entry.ended) return;
    entry.ended = true;
    this.#place(entry).delete(entry);
    this.#size -= 1;
    // The timer is left for the next wait, and goes when it finds none.
    if (this.#size === 0) this.#timer?.hold(false);
  }

  /** Looks at the clock after so long, or sooner where that was agreed. */
  #look(ms: number): void {
    const at = this.#clock.now() + ms;
    if (this.#timer !== null && this.#lookAt <= at) return;
    this.#timer?.cancel();
    this.#lookAt = at;
    this.#timer = this.#clock.timer(ms, () => {
      this.#timer = null;
      const late = this.#clock.now() - at;
      if (late > LOOK_MS) this.#lostMs += late;
      this.#expire();
    });
  }

  #expire(): void {
    const now = this.#now();
    let next = LOOK_MS;
    const over: Entry[] = [];
    this.#refresh(now);
    for (const [deadlineMs, queue] of this.#queues) {
      if (queue.size === 0) this.#queues.delete(deadlineMs);
      if (deadlineMs === null) continue;
      for (const entry of queue) {
        const left = entry.since + deadlineMs - now;
        if (left > 0) {
          next = Math.min(next, left);
          break;
        }
        over.push(entry);
      }
    }
    for (const entry of this.#living) {
      if (now - entry.since >= (entry.bounds.deadlineMs ?? Infinity)) over.push(entry);
    }
    const told = over.map((entry) => this.#described(entry));
    for (const entry of over) this.#end(entry);
    if (this.#size > 0) this.#look(Math.ceil(next));
    over.forEach(({ bounds }, i) => {
      const wait = told[i];
      if (wait !== undefined) bounds.onDeadline?.(wait);
    });
  }

  #refresh(now: number): void {
    for (const entry of this.#living) {
      const progress = entry.bounds.progress?.() ?? 0;
      if (progress === entry.progress) continue;
      entry.progress = progress;
      entry.since = now;
    }
  }
}

export function openWaits(clock: WaitClock = systemClock): Waits {
  return new Register(clock);
}

/** The waits of this process. */
export const waits: Waits = openWaits();
