import { DataError } from "../../base/errors.ts";
import { random, type Random } from "../../base/random.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { CallFinish } from "../../trajectory/trajectory.ts";
import type { SampleRequest, SampleResult } from "../engine.ts";
import { cachedModel } from "./cached-model.ts";
import type { CachedModelOptions, NewestToken, PickedToken } from "./cached-steps.ts";
import type { ModelWeights } from "./model-weights.ts";
import { stopText, type StopText } from "./stop-text.ts";

export interface SamplerOptions extends CachedModelOptions {
  config: DecoderConfig;
  capacity: number;
  tokenBytes(id: number): Uint8Array;
}

/** Continuously batched sampling. Runs in a worker. */
export interface Sampler {
  sample(request: SampleRequest): Promise<SampleResult>;
  forget(sequence: string): void;
  stop(): Promise<void>;
  invalidate(): void;
  rest(): Promise<void>;
}

interface Slot {
  index: number;
  sequence: string | null;
  cached: number[];
  /** The start of the cache, if one prefill computed it from position 0: other sequences with this start can copy it. */
  origin: readonly number[] | null;
  active: Active | null;
  /** The weights changed during the current request, so the next one cannot use its cache. */
  stale: boolean;
  /** Request count at its last finished request: the least recently used waiting sequence is evicted first. */
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
  pending: number;
}

function isBusy(slot: Slot): slot is Slot & { active: Active } {
  return slot.active !== null;
}

/** After this long without any progress, a sequence that waits for its environment may be evicted. */
const PATIENCE_MS = 10_000;

export async function makeSampler(
  options: SamplerOptions,
  weights: ModelWeights,
): Promise<Sampler> {
  const { config, capacity } = options;
  const model = await cachedModel(config, weights, options);
  const slots = Array.from({ length: model.slots }, (_, index): Slot => {
    return {
      index,
      sequence: null,
      cached: [],
      origin: null,
      active: null,
      stale: false,
      usedAt: 0,
    };
  });
  const waiting: Active[] = [];
  let running: Promise<void> | null = null;
  let stopped = false;
  /** The weights changed while nothing ran: what the cache holds is of no use. */
  let isOutdated = false;
  let clock = 0;
  let patience: NodeJS.Timeout | undefined;

  function admit(): Slot[] {
    const admitted: Slot[] = [];
    let rows = model.rows - slots.filter(isBusy).length;
    for (const active of [...waiting]) {
      if (rows === 0) break;
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
      rows -= 1;
    }
    return admitted;
  }

  function wake(): void {
    clearTimeout(patience);
    running ??= run().finally(() => {
      running = null;
      if (waiting.length > 0) patience = setTimeout(giveWay, PATIENCE_MS);
    });
  }

  /** Waiting sequences keep their slots, since eviction by timing changes last bits; after long idleness the least recently used goes. */
  function giveWay(): void {
    const [oldest] = slots.toSorted((a, b) => a.usedAt - b.usedAt);
    Object.assign(oldest!, { sequence: null, cached: [] });
    wake();
  }

  /** Prefills a prompt but its last token. A whole prompt in another slot is copied; parts are not: other chunks, other last bits. */
  async function fill(slot: Slot): Promise<void> {
    const { promptIds } = slot.active!.request;
    const needed = promptIds.slice(0, -1);
    let shared = 0;
    while (shared < slot.cached.length && slot.cached[shared] === promptIds[shared]) shared += 1;
    const at = Math.min(shared, needed.length);
    if (at === 0) await begin(slot, needed);
    else await model.fill(slot.index, needed.slice(at), at);
    if (at > 0 && at < (slot.origin?.length ?? 0)) slot.origin = null;
    // A copy: it grows with every token, and the origin does not.
    slot.cached = [...needed];
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

  async function step(): Promise<void> {
    const busy = slots.filter(isBusy);
    const newest = busy.map(
      ({ index, cached, active: { pending: id, request: pick, stream } }): NewestToken => {
        return { slot: index, id, position: cached.length, pick, stream };
      },
    );
    const drawn = await model.step(newest);
    busy.forEach((slot, i) => take(slot, slot.active, drawn[i]!));
  }

  function take(slot: Slot, active: Active, { id, logprob }: PickedToken): void {
    if (Number.isNaN(logprob)) throw notANumber("the next token's probability");
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
      if (isOutdated) {
        isOutdated = false;
        await model.clear();
      }
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
    async rest() {
      const isUsed = slots.some(({ sequence, active }) => sequence !== null || active !== null);
      if (running !== null || waiting.length > 0 || isUsed) return;
      for (const slot of slots) Object.assign(slot, { cached: [], origin: null });
      isOutdated = false;
      await model.rest();
    },
    invalidate() {
      model.weightsChanged();
      isOutdated = slots.every(({ active }) => active === null);
      for (const slot of slots) {
        slot.origin = null;
        if (slot.active === null) Object.assign(slot, { sequence: null, cached: [] });
        else slot.stale = true;
      }
    },
  };
}

/** WEIGHT_NOT_FINITE. @param what the policy computed. */
export function notANumber(what: string): DataError {
  const message = `${what} is NaN, so the model's weights are damaged or training diverged. Take another model or an earlier checkpoint; in training, lower the learning rate.`;
  return new DataError("WEIGHT_NOT_FINITE", message);
}
