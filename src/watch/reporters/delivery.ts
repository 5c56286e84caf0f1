import { errorMessage } from "../../base/errors.ts";
import type { Told } from "./told.ts";

/** What a reporter does of its own; waiting, trying again and counting what is lost are the same for all. */
export interface Teller {
  /** In front of messages. */
  readonly name: string;
  /** How many of the first of these go at once, at least 1. */
  fit(waiting: readonly Told[]): number;
  /**
   * Delivers all of these or throws; things may be told twice.
   * @throws {Refused} when some can never be delivered as they are.
   */
  tell(told: readonly Told[], signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
}

/** What was told will not be taken, however often it is tried. */
export class Refused extends Error {}

export interface DeliveryOptions {
  /** Things kept while they cannot be delivered; above it the oldest steps are lost. */
  maxQueued: number;
  /** Milliseconds that `close` waits. */
  closeMs: number;
  /** Milliseconds between two deliveries: what is told meanwhile goes together. */
  intervalMs: number;
  /** Milliseconds before a failed delivery is tried again; doubles up to `MAX_RETRY_MS`. */
  retryMs?: number;
  onTrouble: (message: string) => void;
}

const MAX_RETRY_MS = 30_000;

/**
 * Delivers things in the background, in order. A delivery that fails is tried again until the run ends; of several things that
 * are refused together each is then tried alone. The first failure is said, and at the end what was lost.
 */
export class Delivery {
  readonly #teller: Teller;
  readonly #options: DeliveryOptions;
  readonly #ending = new AbortController();
  readonly #working: Promise<void>;
  #queue: Told[] = [];
  #underWay: Told[] = [];
  /** Things lost, by kind. */
  readonly #lost = new Map<Told["kind"], number>();
  #closed: Promise<void> | null = null;
  #isTroubled = false;
  #failures = 0;
  /** So many are to be tried one by one. */
  #alone = 0;
  /** Ends the rest that is taken now, if any. */
  #wake: (() => void) | null = null;
  #isIdle = false;

  constructor(teller: Teller, options: DeliveryOptions) {
    this.#teller = teller;
    this.#options = options;
    this.#working = this.#work();
  }

  /** Returns at once. After `close` nothing is taken any more. */
  push(told: Told): void {
    if (this.#closed !== null) return;
    if (this.#queue.length >= this.#options.maxQueued) {
      const oldestStep = this.#queue.findIndex(({ kind }) => kind === "step");
      this.#lose(this.#queue.splice(Math.max(oldestStep, 0), 1));
    }
    this.#queue.push(told);
    if (this.#isIdle) this.#wake?.();
  }

  /** Delivers what is left, for so long as `closeMs` allows. Never throws. */
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
    const all = this.#working.then(() => this.#teller.close?.()).catch(() => undefined);
    await Promise.race([all, late]);
    clearTimeout(timer);
    this.#lose([...this.#underWay, ...this.#queue]);
    const { name } = this.#teller;
    if (this.#lost.size > 0) this.#options.onTrouble(`${name}: ${farewell(this.#lost)}`);
    else if (this.#isTroubled) this.#options.onTrouble(`${name}: in the end all was told.`);
  }

  async #work(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      if (this.#queue.length > 0) await this.#deliver();
      else if (this.#closed !== null) return;
      else await this.#rest(null);
    }
  }

  async #deliver(): Promise<void> {
    const count = this.#alone > 0 ? 1 : this.#teller.fit(this.#queue);
    this.#underWay = this.#queue.splice(0, Math.max(1, count));
    try {
      await this.#teller.tell(this.#underWay, this.#ending.signal);
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
    const told = this.#underWay;
    this.#underWay = [];
    const isRefused = error instanceof Refused;
    if (isRefused && told.length === 1) {
      this.#lose(told);
      this.#alone = Math.max(0, this.#alone - 1);
      this.#say(`${error.message} The run goes on, and what can be told is.`);
      return;
    }
    this.#queue.unshift(...told);
    if (isRefused) {
      this.#alone = told.length;
      return;
    }
    const { maxQueued, retryMs = 1000 } = this.#options;
    this.#say(
      `${errorMessage(error)} The run goes on; up to ${maxQueued} steps are kept and told when it works again.`,
    );
    // What has been tried while the run waits for its end is not tried again.
    if (this.#closed !== null) this.#ending.abort();
    this.#failures += 1;
    await this.#rest(Math.min(retryMs * 2 ** (this.#failures - 1), MAX_RETRY_MS));
  }

  /** @param ms null: until there is something. Not for longer than the run goes on. */
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

  #lose(told: readonly Told[]): void {
    for (const { kind } of told) this.#lost.set(kind, (this.#lost.get(kind) ?? 0) + 1);
  }
}

const WORDS: Record<Told["kind"], readonly [string, string]> = {
  step: ["step", "steps"],
  evaluation: ["evaluation", "evaluations"],
  event: ["event", "events"],
  end: ["the end of the run", "ends"],
};

function farewell(lost: ReadonlyMap<Told["kind"], number>): string {
  const parts = [...lost].map(([kind, count]) => {
    const [one, many] = WORDS[kind];
    return kind === "end" ? one : `${count} ${count === 1 ? one : many}`;
  });
  return `not told: ${parts.join(", ")}. The run folder has all of it.`;
}
