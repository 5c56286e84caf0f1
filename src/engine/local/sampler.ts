import { random, type Random } from "../../base/random.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { CallFinish } from "../../trajectory/trajectory.ts";
import type { SampleRequest, SampleResult } from "../engine.ts";
import { cachedModel } from "./cached-model.ts";
import type { CachedModelOptions, PickedToken } from "./cached-steps.ts";
import type { ModelWeights } from "./model-weights.ts";
import { stopText, type StopText } from "./stop-text.ts";

export interface SamplerOptions extends CachedModelOptions {
  config: DecoderConfig;
  /** Positions a sequence may have. */
  capacity: number;
  /** The bytes of a token, for stop strings. */
  tokenBytes(id: number): Uint8Array;
}

/** Continuously batched sampling. Lives in a worker. */
export interface Sampler {
  sample(request: SampleRequest): Promise<SampleResult>;
  forget(sequence: string): void;
  /** Gives up every request; resolves when no run is under way. */
  stop(): Promise<void>;
  /** Everything kept was computed with other weights: forget it. */
  invalidate(): void;
}

/** One sequence's place in the cache. */
interface Slot {
  readonly index: number;
  sequence: string | null;
  /** Tokens whose keys and values are in the cache. */
  cached: number[];
  /** What the cache begins with, where that was computed in one go from position 0: others that begin alike copy it. */
  origin: readonly number[] | null;
  /** The request under way; null while the sequence waits for its environment. */
  active: Active | null;
  /** The weights changed under the request that is under way: what it leaves in the cache is of no use to the next. */
  stale: boolean;
  /** When it last finished a request, as a count of requests: the least recent waiter is evicted first. */
  usedAt: number;
}

interface Active {
  request: SampleRequest;
  resolve: (result: SampleResult) => void;
  reject: (error: unknown) => void;
  stream: Random;
  stop: StopText;
  ids: number[];
  logprobs: number[];
  /** The newest token: computed by the next run. */
  pending: number;
}

/** How long nothing may move before a sequence that waits for its environment loses its place. */
const PATIENCE_MS = 10_000;

export async function makeSampler(
  options: SamplerOptions,
  weights: ModelWeights,
): Promise<Sampler> {
  const { config, capacity } = options;
  const model = await cachedModel(config, weights, options);
  const slots = Array.from({ length: options.slots }, (_, index): Slot => {
    return {
      ...{ index, sequence: null, cached: [], origin: null },
      ...{ active: null, stale: false, usedAt: 0 },
    };
  });
  const waiting: Active[] = [];
  let running: Promise<void> | null = null;
  let stopped = false;
  let clock = 0;
  let patience: NodeJS.Timeout | undefined;

  /**
   * Gives waiting requests places, in order: a sequence goes on in the place that it holds, whoever waits before it; others take
   * places that nobody holds.
   */
  function admit(): Slot[] {
    const admitted: Slot[] = [];
    for (const active of [...waiting]) {
      const { sequence } = active.request;
      const free = slots.filter((slot) => slot.active === null);
      const slot =
        free.find((each) => sequence !== null && each.sequence === sequence) ??
        free.find((each) => each.sequence === null);
      if (slot === undefined) continue;
      if (slot.sequence !== sequence || sequence === null) {
        slot.sequence = sequence;
        slot.cached = [];
      }
      slot.active = active;
      waiting.splice(waiting.indexOf(active), 1);
      admitted.push(slot);
    }
    return admitted;
  }

  /** Starts what can run. */
  function wake(): void {
    clearTimeout(patience);
    running ??= run().finally(() => {
      running = null;
      if (waiting.length > 0) patience = setTimeout(giveWay, PATIENCE_MS);
    });
  }

  /**
   * A sequence that waits for its environment keeps its place: computing a cache again in other pieces can change its last bits,
   * so who gives way must not depend on timing. Only when nothing has moved for long, because somebody did not forget what had
   * ended, the least recent one does.
   */
  function giveWay(): void {
    const [oldest] = slots.toSorted((a, b) => a.usedAt - b.usedAt);
    Object.assign(oldest!, { sequence: null, cached: [] });
    wake();
  }

  /**
   * Computes keys and values of all prompt tokens but the last, which the next decode run takes. A prompt that another slot began
   * with is not computed again: a group's prompt is computed once. Only whole prompts are shared, because a part of one would have
   * been computed in other pieces and could differ in its last bits.
   */
  async function fill(slot: Slot): Promise<void> {
    const { promptIds } = slot.active!.request;
    const needed = promptIds.slice(0, -1);
    let shared = 0;
    while (shared < slot.cached.length && slot.cached[shared] === promptIds[shared]) shared += 1;
    const at = Math.min(shared, needed.length);
    if (at === 0) await begin(slot, needed);
    else await model.fill(slot.index, needed.slice(at), at);
    if (at > 0 && at < (slot.origin?.length ?? 0)) slot.origin = null;
    slot.cached = needed;
    slot.active!.pending = promptIds.at(-1)!;
  }

  async function begin(slot: Slot, ids: readonly number[]): Promise<void> {
    const alike = ({ origin }: Slot): boolean =>
      origin?.length === ids.length && origin.every((id, i) => id === ids[i]);
    const donor = ids.length === 0 ? undefined : [slot, ...slots].find(alike);
    slot.origin = null;
    if (donor === undefined) await model.fill(slot.index, ids, 0);
    else if (donor !== slot) await model.copy(donor.index, slot.index, ids.length);
    slot.origin = ids;
  }

  /** One new token for every active slot. */
  async function step(): Promise<void> {
    const drawn = await model.step(
      slots.map(({ active, cached }) =>
        active === null
          ? null
          : {
              ...{ id: active.pending, position: cached.length },
              ...{ pick: active.request, stream: active.stream },
            },
      ),
    );
    for (const slot of slots) if (slot.active !== null) take(slot, slot.active, drawn[slot.index]!);
  }

  function take(slot: Slot, active: Active, { id, logprob }: PickedToken): void {
    slot.cached.push(active.pending);
    active.ids.push(id);
    active.logprobs.push(logprob);
    active.pending = id;
    const finish = finishOf(active, id, slot.cached.length + 1);
    if (finish === null) return;
    clock += 1;
    slot.usedAt = clock;
    slot.active = null;
    if (slot.stale) Object.assign(slot, { cached: [], stale: false });
    active.resolve({ ids: active.ids, logprobs: active.logprobs, finish });
  }

  function finishOf(active: Active, id: number, length: number): CallFinish | null {
    const stopped = active.stop.push(options.tokenBytes(id));
    if (active.request.stopIds.includes(id)) return "eos";
    if (stopped) return "stop";
    if (active.ids.length >= active.request.maxTokens) return "length";
    return length >= capacity ? "context" : null;
  }

  async function run(): Promise<void> {
    try {
      for (;;) {
        if (stopped) throw new Error("the engine was closed");
        for (const slot of admit()) await fill(slot);
        if (slots.every((slot) => slot.active === null)) break;
        await step();
      }
    } catch (error) {
      for (const slot of slots) slot.active?.reject(error);
      for (const each of waiting.splice(0)) each.reject(error);
      for (const slot of slots)
        Object.assign(slot, {
          active: null,
          sequence: null,
          cached: [],
          origin: null,
          stale: false,
        });
    }
  }

  return {
    sample: (request) =>
      new Promise((resolve, reject) => {
        const stream = random(request.seed);
        const stop = stopText(request.stopStrings);
        const active = {
          request,
          resolve,
          reject,
          stream,
          stop,
          ids: [],
          logprobs: [],
          pending: 0,
        };
        waiting.push(active);
        wake();
      }),
    forget(sequence) {
      for (const slot of slots) {
        if (slot.sequence === sequence && slot.active === null) {
          slot.sequence = null;
          slot.cached = [];
        }
      }
      wake();
    },
    async stop() {
      stopped = true;
      clearTimeout(patience);
      await running;
    },
    invalidate() {
      for (const slot of slots) {
        slot.origin = null;
        if (slot.active === null) Object.assign(slot, { sequence: null, cached: [] });
        else slot.stale = true;
      }
    },
  };
}
