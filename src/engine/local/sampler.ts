import { random, type Random } from "../../base/random.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { CallFinish } from "../../trajectory/trajectory.ts";
import type { SampleRequest, SampleResult } from "../engine.ts";
import { cachedModel } from "./cached-model.ts";
import type { ModelWeights } from "./model-weights.ts";
import { pickToken } from "./pick-token.ts";
import { stopText, type StopText } from "./stop-text.ts";

export interface SamplerOptions {
  config: DecoderConfig;
  /** Sequences decoded together. */
  slots: number;
  /** Positions a sequence may have. */
  capacity: number;
  threads: number;
  /** The bytes of a token, for stop strings. */
  tokenBytes(id: number): Uint8Array;
}

/** Continuously batched sampling. Lives in a worker. */
export interface Sampler {
  sample(request: SampleRequest): Promise<SampleResult>;
  forget(sequence: string): void;
  /** Everything kept was computed with other weights: forget it. */
  invalidate(): void;
}

/** One sequence's place in the cache. */
interface Slot {
  readonly index: number;
  sequence: string | null;
  /** Tokens whose keys and values are in the cache. */
  cached: number[];
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

export async function makeSampler(
  options: SamplerOptions,
  weights: ModelWeights,
): Promise<Sampler> {
  const { config, capacity } = options;
  const model = await cachedModel(config, weights, options);
  const slots = Array.from({ length: options.slots }, (_, index): Slot => {
    return { index, sequence: null, cached: [], active: null, stale: false, usedAt: 0 };
  });
  const waiting: Active[] = [];
  let running = false;
  let clock = 0;

  /** Takes waiting requests in order while there is a place for them. */
  function admit(): Slot[] {
    const admitted: Slot[] = [];
    while (waiting.length > 0) {
      const { sequence } = waiting[0]!.request;
      const slot =
        slots.find((each) => sequence !== null && each.sequence === sequence) ??
        slots.find((each) => each.sequence === null && each.active === null) ??
        evictable();
      if (slot === undefined) break;
      if (slot.sequence !== sequence || sequence === null) {
        slot.sequence = sequence;
        slot.cached = [];
      }
      slot.active = waiting.shift()!;
      admitted.push(slot);
    }
    return admitted;
  }

  /**
   * A sequence that waits for its environment gives way only when nothing else could run: who gives way must not depend on
   * timing, because computing a cache again in other pieces can change its last bits.
   */
  function evictable(): Slot | undefined {
    if (slots.some((slot) => slot.active !== null)) return undefined;
    return slots.toSorted((a, b) => a.usedAt - b.usedAt)[0];
  }

  /** Computes keys and values of all prompt tokens but the last, which the next decode run takes. */
  async function fill(slot: Slot): Promise<void> {
    const { promptIds } = slot.active!.request;
    let shared = 0;
    while (shared < slot.cached.length && slot.cached[shared] === promptIds[shared]) shared += 1;
    const at = Math.min(shared, promptIds.length - 1);
    await model.fill(slot.index, promptIds.slice(at, -1), at);
    slot.cached = promptIds.slice(0, -1);
    slot.active!.pending = promptIds.at(-1)!;
  }

  /** One new token for every active slot. */
  async function step(): Promise<void> {
    const ids = new Int32Array(options.slots);
    const positions = new Int32Array(options.slots).fill(-1);
    const inverseTemperature = new Float32Array(options.slots).fill(1);
    for (const { index, active, cached } of slots) {
      if (active === null) continue;
      positions[index] = cached.length;
      ids[index] = active.pending;
      const { temperature } = active.request;
      if (temperature > 0) inverseTemperature[index] = 1 / temperature;
    }
    const probabilities = await model.step(ids, positions, inverseTemperature);
    for (const slot of slots) if (slot.active !== null) take(slot, slot.active, probabilities);
  }

  function take(slot: Slot, active: Active, probabilities: Float32Array): void {
    const { request } = active;
    slot.cached.push(active.pending);
    const { id, logprob } = pickToken(
      probabilities,
      slot.index * config.vocabSize,
      config.vocabSize,
      request,
      active.stream,
    );
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
    running = true;
    try {
      for (;;) {
        for (const slot of admit()) await fill(slot);
        if (slots.every((slot) => slot.active === null)) break;
        await step();
      }
    } catch (error) {
      for (const slot of slots) slot.active?.reject(error);
      for (const each of waiting.splice(0)) each.reject(error);
      for (const slot of slots)
        Object.assign(slot, { active: null, sequence: null, cached: [], stale: false });
    } finally {
      running = false;
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
        if (!running) void run();
      }),
    forget(sequence) {
      for (const slot of slots) {
        if (slot.sequence === sequence && slot.active === null) {
          slot.sequence = null;
          slot.cached = [];
        }
      }
    },
    invalidate() {
      for (const slot of slots) {
        if (slot.active === null) Object.assign(slot, { sequence: null, cached: [] });
        else slot.stale = true;
      }
    },
  };
}
