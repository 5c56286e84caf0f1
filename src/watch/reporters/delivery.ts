import { errorMessage } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { ReporterEvent } from "./reporter-event.ts";
import type { Reporter } from "./reporter.ts";

/** How one reporter sends; queue, retries and the count of lost events are the same for all. */
export interface ReporterBackend {
  readonly name: string;
  /** How many of the first waiting events go in one batch, at least 1. */
  batchSize(waiting: readonly ReporterEvent[]): number;
  /**
   * Delivers the whole batch or throws; an event may be sent twice.
   * @throws {Refused} when some events can never be delivered as they are.
   */
  send(batch: readonly ReporterEvent[], signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
}

/** The receiver refuses an event; a retry would fail again. */
export class Refused extends Error {}

interface DeliveryOptions {
  /** Events kept while they cannot be delivered; above it the oldest steps are lost. */
  maxQueued: number;
  /** Milliseconds that `close` waits. */
  closeMs: number;
  /** Milliseconds between two deliveries: events in between go in one batch. */
  intervalMs: number;
  /** Milliseconds before a failed delivery is tried again; doubles up to `MAX_RETRY_MS`. */
  retryMs?: number;
  onTrouble: (message: string) => void;
}

const MAX_RETRY_MS = 30_000;

/**
 * Delivers events in the background, in order. It retries a failed batch until the run ends, and
 * sends each event of a refused batch alone. It reports the first failure, and at the end the lost
 * events.
 */
export class Delivery {
  readonly #backend: ReporterBackend;
  readonly #options: DeliveryOptions;
  readonly #ending = new AbortController();
  readonly #working: Promise<void>;
  #queue: ReporterEvent[] = [];
  #underWay: ReporterEvent[] = [];
  readonly #lost = new Map<ReporterEvent["kind"], number>();
  #closed: Promise<void> | null = null;
  #isTroubled = false;
  #failures = 0;
  /** Events still to be sent one by one. */
  #alone = 0;
  /** Ends the current pause, if any. */
  #wake: (() => void) | null = null;
  #isIdle = false;

  constructor(backend: ReporterBackend, options: DeliveryOptions) {
    this.#backend = backend;
    this.#options = options;
    this.#working = this.#work();
  }

  /** Returns at once. Ignored after `close`. */
  push(event: ReporterEvent): void {
    if (this.#closed !== null) return;
    if (this.#queue.length >= this.#options.maxQueued) {
      const oldestStep = this.#queue.findIndex(({ kind }) => kind === "step");
      this.#lose(this.#queue.splice(Math.max(oldestStep, 0), 1));
    }
    this.#queue.push(event);
    if (this.#isIdle) this.#wake?.();
  }

  /** Delivers the remaining events within `closeMs`. Never throws. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    this.#wake?.();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#ending.abort(new Error("the run is over"));
        resolve();
      }, this.#options.closeMs);
    });
    const all = this.#working.then(() => this.#backend.close?.()).catch(() => undefined);
    await Promise.race([all, late]);
    clearTimeout(timer);
    this.#lose([...this.#underWay, ...this.#queue]);
    const { name } = this.#backend;
    if (this.#lost.size > 0) this.#options.onTrouble(`${name}: ${farewell(this.#lost)}`);
    else if (this.#isTroubled)
      this.#options.onTrouble(`${name}: all events were delivered in the end.`);
  }

  async #work(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      if (this.#queue.length > 0) await this.#deliver();
      else if (this.#closed !== null) return;
      else await this.#rest(null);
    }
  }

  async #deliver(): Promise<void> {
    const count = this.#alone > 0 ? 1 : this.#backend.batchSize(this.#queue);
    this.#underWay = this.#queue.splice(0, Math.max(1, count));
    try {
      await this.#backend.send(this.#underWay, this.#ending.signal);
    } catch (error) {
      await this.#failed(error);
      return;
    }
    this.#failures = 0;
    this.#alone = Math.max(0, this.#alone - 1);
    this.#underWay = [];
    await this.#rest(this.#options.intervalMs);
  }

  async #failed(error: unknown): Promise<void> {
    if (this.#ending.signal.aborted) return; // counted as lost while it was under way
    const batch = this.#underWay;
    this.#underWay = [];
    const isRefused = error instanceof Refused;
    if (isRefused && batch.length === 1) {
      this.#lose(batch);
      this.#alone = Math.max(0, this.#alone - 1);
      this.#say(`${error.message} The run continues and delivers all other events.`);
      return;
    }
    this.#queue.unshift(...batch);
    if (isRefused) {
      this.#alone = batch.length;
      return;
    }
    const { maxQueued, retryMs = 1000 } = this.#options;
    this.#say(
      `${errorMessage(error)} The run continues; up to ${maxQueued} steps are kept and delivered when it works again.`,
    );
    // No retry while the end of the run waits.
    if (this.#closed !== null) this.#ending.abort();
    this.#failures += 1;
    await this.#rest(Math.min(retryMs * 2 ** (this.#failures - 1), MAX_RETRY_MS));
  }

  /** @param ms null: until there is an event. Ends when the run ends. */
  async #rest(ms: number | null): Promise<void> {
    if (this.#closed !== null) return;
    this.#isIdle = ms === null;
    await new Promise<void>((resolve) => {
      const timer = ms === null ? undefined : setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
    this.#isIdle = false;
  }

  #say(message: string): void {
    if (!this.#isTroubled) this.#options.onTrouble(message);
    this.#isTroubled = true;
  }

  #lose(batch: readonly ReporterEvent[]): void {
    for (const { kind } of batch) this.#lost.set(kind, (this.#lost.get(kind) ?? 0) + 1);
  }
}

const WORDS: Record<ReporterEvent["kind"], readonly [string, string]> = {
  step: ["step", "steps"],
  evaluation: ["evaluation", "evaluations"],
  event: ["event", "events"],
  end: ["the end of the run", "ends"],
};

function farewell(lost: ReadonlyMap<ReporterEvent["kind"], number>): string {
  const parts = [...lost].map(([kind, count]) => {
    const [one, many] = WORDS[kind];
    return kind === "end" ? one : `${count} ${count === 1 ? one : many}`;
  });
  return `not delivered: ${parts.join(", ")}. The run folder has all of it.`;
}

/** Options of every reporter: how much it keeps and how long a run's end waits for it. */
export const queueShape = {
  /** Events kept while they cannot be delivered; above it the oldest steps are lost. */
  maxQueued: z.int().min(1).default(2000),
  /** Milliseconds that the end of a run waits for the last deliveries. */
  closeMs: z.int().min(0).default(10_000),
};

/** A reporter that queues its events; the backend delivers them in the background. */
export function queuedReporter(
  backend: ReporterBackend,
  { now = Date.now, ...options }: DeliveryOptions & { now?: () => number },
): Reporter {
  const delivery = new Delivery(backend, options);
  return {
    metrics(step, data, timing) {
      delivery.push({ kind: "step", at: now(), step, data, timing });
    },
    evaluation(name, step, scores) {
      delivery.push({ kind: "evaluation", at: now(), name, step, scores });
    },
    event(event) {
      delivery.push({ kind: "event", at: now(), event });
    },
    close(outcome) {
      delivery.push({ kind: "end", at: now(), outcome });
      return delivery.close();
    },
  };
}
