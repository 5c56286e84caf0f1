import type { DecoderConfig } from "../../models/config.ts";
import { samplingGraph } from "../../models/sampling-graph.ts";
import { createSession, floats, tensorOf, zeros, type Session } from "../../onnx/session.ts";
import { growKvCache, kvCache } from "./kv-cache.ts";
import type { ModelWeights } from "./model-weights.ts";

/** A decoder with a key/value cache of several slots. */
export interface CachedModel {
  /** Computes keys and values of `ids` at positions `at`, `at` + 1, … of a slot. */
  fill(slot: number, ids: readonly number[], at: number): Promise<void>;
  /**
   * One new token for every slot, at position `positions[slot]`. All slots run, whoever needs them, so that a row's result never
   * depends on the others; an idle slot writes where nothing has been read yet.
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
/** The cache grows by this many positions. The runtime's binding copies every output, so an idle half costs time. */
const GROWTH = 128;

export async function cachedModel(
  config: DecoderConfig,
  weights: ModelWeights,
  options: { slots: number; threads: number },
): Promise<CachedModel> {
  const { slots, threads } = options;
  let cache = kvCache(config, slots, GROWTH);
  const compiled = new Map<string, Promise<Session>>();
  const session = (rows: number, chunk: number, scores: boolean): Promise<Session> => {
    const { capacity } = cache;
    const key = [rows, chunk, capacity].join();
    let found = compiled.get(key);
    if (found === undefined) {
      const { graph, outputs } = samplingGraph(config, { rows, chunk, capacity }, { scores });
      found = createSession(graph, outputs, { threads });
      compiled.set(key, found);
    }
    return found;
  };
  const probabilities = zeros("float32", [slots, config.vocabSize]);
  const makeRoom = (positions: number): void => {
    if (positions <= cache.capacity) return;
    cache = growKvCache(config, cache, Math.ceil(positions / GROWTH) * GROWTH);
  };
  await session(slots, 1, true);
  return {
    async fill(slot, ids, from) {
      for (let done = 0; done < ids.length;) {
        const size = CHUNKS.find((each) => each >= ids.length - done) ?? CHUNKS.at(-1)!;
        const end = from + done + size;
        makeRoom(end);
        const padded = new Int32Array(size);
        padded.set(ids.slice(done, done + size));
        const view = cache.slot(slot);
        const ready = await session(1, size, false);
        await ready.run(
          {
            ...weights.feeds,
            ...view.feeds,
            ids: tensorOf(padded, [1, size]),
            lastPosition: tensorOf(Int32Array.of(end - 1), [1]),
            length: tensorOf(Int32Array.of(end), [1]),
          },
          view.fetches,
        );
        done += size;
      }
    },
    async step(ids, positions, inverseTemperature) {
      const length = Math.max(...positions) + 1;
      makeRoom(length);
      const ready = await session(slots, 1, true);
      await ready.run(
        {
          ...weights.feeds,
          ...cache.all.feeds,
          ids: tensorOf(ids, [slots, 1]),
          lastPosition: tensorOf(positions, [slots]),
          length: tensorOf(Int32Array.of(length), [1]),
          inverseTemperature: tensorOf(inverseTemperature, [slots, 1]),
        },
        { ...cache.all.fetches, probabilities },
      );
      return floats(probabilities);
    },
  };
}
