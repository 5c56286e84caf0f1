import type { DecoderConfig } from "../../models/config.ts";
import { MASKED } from "../../models/decoder.ts";
import { CACHE_STEP, samplingGraph } from "../../models/sampling-graph.ts";
import { createSession, floats, tensorOf, zeros, type Session } from "../../onnx/session.ts";
import { growKvCache, kvCache } from "./kv-cache.ts";
import type { ModelWeights } from "./model-weights.ts";

/** A decoder with a key/value cache of several slots. */
export interface CachedModel {
  /** Computes keys and values of `ids` at positions `at`, `at` + 1, … of a slot. */
  fill(slot: number, ids: readonly number[], at: number): Promise<void>;
  /**
   * One new token for every slot, at position `positions[slot]`. All slots run, whoever needs them, so that a row's result never
   * depends on the others; a slot with position −1 is idle and keeps nothing.
   * @returns probabilities of the next token, [slots, V], valid until the next call.
   */
  step(
    ids: Int32Array,
    positions: Int32Array,
    inverseTemperature: Float32Array,
  ): Promise<Float32Array>;
}

/** Sizes of fill runs: a prompt is cut into the largest that fit, the rest padded to the smallest that holds it. */
const CHUNKS = [16, 32, 64, 128] as const;

export async function cachedModel(
  config: DecoderConfig,
  weights: ModelWeights,
  options: { slots: number; threads: number },
): Promise<CachedModel> {
  const { slots, threads } = options;
  let cache = kvCache(config, slots, CACHE_STEP);
  const compiled = new Map<string, Promise<Session>>();
  const session = (rows: number, chunk: number, scores: boolean): Promise<Session> => {
    const { capacity } = cache;
    const key = [chunk, scores, capacity].join();
    let found = compiled.get(key);
    if (found === undefined) {
      const { graph, outputs } = samplingGraph(
        config,
        { rows, chunk, capacity },
        { scores, lora: weights.lora },
      );
      found = createSession(graph, outputs, { threads });
      compiled.set(key, found);
    }
    return found;
  };
  const probabilities = zeros("float32", [slots, config.vocabSize]);
  const makeRoom = (positions: number): void => {
    if (positions <= cache.capacity) return;
    const capacity = Math.ceil(positions / CACHE_STEP) * CACHE_STEP;
    cache = growKvCache(config, cache, slots, capacity);
  };
  await session(slots, 1, true);
  return {
    async fill(slot, ids, from) {
      for (let done = 0; done < ids.length;) {
        const size = CHUNKS.find((each) => each >= ids.length - done) ?? CHUNKS.at(-1)!;
        const count = Math.min(size, ids.length - done);
        const at = from + done;
        makeRoom(at + count);
        const padded = new Int32Array(size);
        padded.set(ids.slice(done, done + count));
        const ready = await session(1, size, false);
        const results = await ready.run({
          ...weights.feeds,
          ...cache.slot(slot),
          ids: tensorOf(padded, [1, size]),
          positions: tensorOf(
            BigInt64Array.from(padded, (_, i) => BigInt(at + i)),
            [1, size],
          ),
          cacheMask: tensorOf(masks([at], cache.capacity), [1, 1, 1, cache.capacity]),
        });
        cache.write(results, { row: 0, slot, at, count });
        done += count;
      }
    },
    async step(ids, positions, inverseTemperature) {
      makeRoom(Math.max(...positions) + 1);
      const ready = await session(slots, 1, true);
      const places = BigInt64Array.from(positions, (at) => BigInt(Math.max(at, 0)));
      const results = await ready.run(
        {
          ...weights.feeds,
          ...cache.all,
          ids: tensorOf(ids, [slots, 1]),
          positions: tensorOf(places, [slots, 1]),
          cacheMask: tensorOf(masks(positions, cache.capacity), [slots, 1, 1, cache.capacity]),
          inverseTemperature: tensorOf(inverseTemperature, [slots, 1]),
        },
        { probabilities },
      );
      positions.forEach((at, slot) => {
        if (at >= 0) cache.write(results, { row: slot, slot, at, count: 1 });
      });
      return floats(probabilities);
    },
  };
}

/** Rows of a cache mask: open before each row's first new position. */
function masks(positions: Int32Array | readonly number[], capacity: number): Float32Array {
  const mask = new Float32Array(positions.length * capacity).fill(MASKED);
  positions.forEach((at, row) => mask.fill(0, row * capacity, row * capacity + Math.max(at, 0)));
  return mask;
}
