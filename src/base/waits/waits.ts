/**
 * The register of pending calls to tools, servers, threads and disks, each with an owner and a deadline; notices say who waits since when.
 * One timer serves all. Time does not count while the process was stopped (SIGSTOP) or its thread busy for more than a second.
 */
import { abortLinks } from "./abort-links.ts";
import type { LongWait } from "./long-wait.ts";
import { longWaitMessage } from "./long-wait.ts";
import { systemClock, type WaitClock, type WaitTimer } from "./wait-clock.ts";

export interface PendingCall {
  /** The awaited tool, server, thread or disk: `tool corpus-search`, `engine worker 2`. */
  owner: string;
  /** What the call is for, evaluated only for a message: `trajectory 3-1-2 (query "…")`. */
  subject: () => string;
}

export interface WaitBounds {
  deadlineMs: number | null;
  /** A number that changes with progress, read every second: the deadline counts from its last change. */
  progress?: () => number;
  /** Called once after the deadline, when the call is no longer registered. */
  onDeadline?: (wait: LongWait) => void;
}

/** A registered pending call. */
export type OpenWait = { renew(): void; end(): void };

export interface WaitOptions {
  deadlineMs: number | null;
  /** The caller's signal: it aborts the work, whose end is still awaited up to the deadline. */
  signal?: AbortSignal | undefined;
  late: (wait: LongWait) => Error;
}

export interface WaitWatch {
  /** Age at which a call is reported, and interval of the checks. */
  noticeMs: number;
  /** One call per owner and check, about its longest unreported wait. A wait is reported again whenever its age has doubled. */
  onLong: (message: string, wait: LongWait) => void;
}

export interface Waits {
  readonly size: number;
  begin(wait: PendingCall, bounds: WaitBounds): OpenWait;
  /** Waits until the deadline; then aborts the work's signal. @throws the work's error; that of `late`; the reason of an aborted signal. */
  waitFor<T>(
    wait: PendingCall,
    options: WaitOptions,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Reports long waits until it is closed. Does not keep the process alive. */
  watch(watch: WaitWatch): { close(): void };
}

const LOOK_MS = 1000;

interface Entry {
  readonly wait: PendingCall;
  readonly bounds: WaitBounds;
  since: number;
  progress: number;
  ended: boolean;
}

class Register implements Waits {
  readonly #clock: WaitClock;
  /** By deadline, in order of `since`. */
  readonly #queues = new Map<number | null, Set<Entry>>();
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

  begin(wait: PendingCall, bounds: WaitBounds): OpenWait {
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
    wait: PendingCall,
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
    const reported = new WeakMap<Entry, number>();
    let timer: WaitTimer;
    const rest = (): void => {
      timer = this.#clock.timer(noticeMs, look);
      timer.hold(false);
    };
    const look = (): void => {
      for (const [first, others] of this.#longest(noticeMs, reported)) {
        const wait = this.#described(first, others);
        reported.set(first, wait.waitedMs);
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

  /** For each owner, its longest wait that is due for a report, and the number of its other long waits. */
  *#longest(noticeMs: number, reported: WeakMap<Entry, number>): Generator<[Entry, number]> {
    const now = this.#now();
    const owners = new Map<string, { due: Entry | null; count: number }>();
    const note = (entry: Entry): void => {
      const { owner } = entry.wait;
      const of = owners.get(owner) ?? { due: null, count: 0 };
      of.count += 1;
      const isDue = now - entry.since >= 2 * (reported.get(entry) ?? 0);
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
      owner: wait.owner,
      subject: wait.subject(),
      waitedMs,
      since: new Date(this.#clock.date() - waitedMs).toISOString(),
      deadlineMs: bounds.deadlineMs,
      others,
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
    // The timer stays for the next call, and stops when it finds none.
    if (this.#size === 0) this.#timer?.hold(false);
  }

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
    const reported = over.map((entry) => this.#described(entry));
    for (const entry of over) this.#end(entry);
    if (this.#size > 0) this.#look(Math.ceil(next));
    over.forEach(({ bounds }, i) => {
      const wait = reported[i];
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

/** The pending calls of this process. */
export const waits: Waits = openWaits();
