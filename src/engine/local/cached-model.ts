import type { DecoderConfig } from "../../models/config.ts";
import { CACHE_STEP, samplingGraph } from "../../models/sampling-graph.ts";
import { floats, zeros, type Session } from "../../onnx/session.ts";
import {
  type CachedModel,
  type CachedModelOptions,
  capacityFor,
  inverseTemperatures,
  pieces,
  tokenFeeds,
} from "./cached-steps.ts";
import { compiled } from "./compiled.ts";
import { growKvCache, kvCache } from "./kv-cache.ts";
import type { ModelWeights } from "./model-weights.ts";
import { pickToken } from "./pick-token.ts";
import { residentModel } from "./resident-model.ts";

/**
 * Rows of the smallest step. Products of fewer rows take other kernels, whose sums differ in the last bits; from eight on they were equal to the
 * bit (test/engine/local/sampling.test.ts).
 */
const FEWEST_ROWS = 8;

/**
 * Chunk sizes of prefill: close to each other, because a padded position takes as long as a token; up to 128, because a longer chunk
 * would not be faster per token.
 */
const CHUNKS = [16, 32, 48, 64, 80, 96, 112, 128] as const;

/** Number of graphs that a cache in host memory needs, whatever its capacity. */
export function hostGraphs(slots: number): number {
  return rowCountsOf(slots).length + CHUNKS.length;
}

/** Creates the decoder's cache in the memory of the device. */
export function cachedModel(
  config: DecoderConfig,
  weights: ModelWeights,
  options: CachedModelOptions,
): Promise<CachedModel> {
  return options.device.resident
    ? residentModel(config, weights, options)
    : hostModel(config, weights, options);
}

/** A cache in host memory: graphs read it, this code writes it and draws the tokens. */
async function hostModel(
  config: DecoderConfig,
  weights: ModelWeights,
  { device, slots }: CachedModelOptions,
): Promise<CachedModel> {
  const { vocabSize } = config;
  const shape = { slots, chunk: CHUNKS.at(-1)! };
  const shortest = { ...shape, capacity: CACHE_STEP };
  let cache = kvCache(config, shortest);
  const once = compiled(hostGraphs(slots));
  const session = (rows: number, chunk: number): Promise<Session> =>
    once([rows, chunk].join(), () => {
      const { graph, outputs } = samplingGraph(
        config,
        { rows, chunk, capacity: CACHE_STEP },
        {
          gives: chunk === 1 ? "probabilities" : "nothing",
          ...{ lora: weights.lora, transposed: weights.transposed, frozen: weights.frozen },
        },
      );
      return device.compile(graph, outputs);
    });
  const makeRoom = (positions: number): void => {
    if (positions > cache.capacity)
      cache = growKvCache(config, cache, { ...shape, capacity: capacityFor(positions) });
  };
  const rowCounts = rowCountsOf(slots);
  const probabilities = new Map(
    rowCounts.map((rows) => [rows, zeros("float32", [rows, vocabSize])] as const),
  );
  await session(slots, 1);
  return {
    rowCounts,
    async fill(slot, given, from) {
      for (const { ids, count, at } of pieces(given, from, CHUNKS)) {
        makeRoom(at + count);
        const ready = await session(1, ids.length);
        const feeds = { ...weights.feeds, ...cache.slot(slot) };
        const results = await ready.run({ ...feeds, ...tokenFeeds(ids, [at]) });
        cache.write(results, { row: 0, slot, at, count });
      }
    },
    clear() {
      if (cache.capacity > CACHE_STEP) cache = kvCache(config, shortest);
      return Promise.resolve();
    },
    copy(from, to, count) {
      cache.copy(from, to, count);
      return Promise.resolve();
    },
    async step(newest) {
      const positions = newest.map((each) => each?.position ?? -1);
      makeRoom(Math.max(...positions) + 1);
      const rows = newest.length;
      const ready = await session(rows, 1);
      const drawn = probabilities.get(rows)!;
      const ids = Int32Array.from(newest, (each) => each?.id ?? 0);
      const results = await ready.run(
        {
          ...weights.feeds,
          ...cache.first(rows),
          ...tokenFeeds(ids, positions),
          inverseTemperature: inverseTemperatures(newest),
        },
        { probabilities: drawn },
      );
      positions.forEach((at, slot) => {
        if (at >= 0) cache.write(results, { row: slot, slot, at, count: 1 });
      });
      const all = floats(drawn);
      return newest.map(
        (each, slot) => each && pickToken(all, slot * vocabSize, vocabSize, each.pick, each.stream),
      );
    },
  };
}

/** Rows of a step: 8, 16, 32, … up to all slots. */
function rowCountsOf(slots: number): number[] {
  const counts = [slots];
  for (let rows = FEWEST_ROWS; rows < slots; rows *= 2) counts.splice(-1, 0, rows);
  return counts;
}
