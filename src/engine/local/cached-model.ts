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
import { growKvCache, kvCache } from "./kv-cache.ts";
import { compiled, keptGraphs } from "./compiled.ts";
import type { ModelWeights } from "./model-weights.ts";
import { pickToken } from "./pick-token.ts";
import { residentModel } from "./resident-model.ts";

/** Chunk sizes of prefill. */
const CHUNKS = [16, 32, 64, 128] as const;

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
  let cache = kvCache(config, slots, CACHE_STEP);
  const once = compiled(keptGraphs(config).sampling);
  const session = (rows: number, chunk: number): Promise<Session> => {
    const { capacity } = cache;
    return once([rows, chunk, capacity].join(), () => {
      const { graph, outputs } = samplingGraph(
        config,
        { rows, chunk, capacity },
        {
          gives: chunk === 1 ? "probabilities" : "nothing",
          ...{ lora: weights.lora, transposed: weights.transposed, frozen: weights.frozen },
        },
      );
      return device.compile(graph, outputs);
    });
  };
  const makeRoom = (positions: number): void => {
    if (positions > cache.capacity)
      cache = growKvCache(config, cache, slots, capacityFor(positions));
  };
  const probabilities = zeros("float32", [slots, vocabSize]);
  await session(slots, 1);
  return {
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
      if (cache.capacity > CACHE_STEP) cache = kvCache(config, slots, CACHE_STEP);
      return Promise.resolve();
    },
    copy(from, to, count) {
      cache.copy(from, to, count);
      return Promise.resolve();
    },
    async step(newest) {
      const positions = newest.map((each) => each?.position ?? -1);
      makeRoom(Math.max(...positions) + 1);
      const ready = await session(slots, 1);
      const ids = Int32Array.from(newest, (each) => each?.id ?? 0);
      const results = await ready.run(
        {
          ...weights.feeds,
          ...cache.all,
          ...tokenFeeds(ids, positions),
          inverseTemperature: inverseTemperatures(newest),
        },
        { probabilities },
      );
      positions.forEach((at, slot) => {
        if (at >= 0) cache.write(results, { row: slot, slot, at, count: 1 });
      });
      const all = floats(probabilities);
      return newest.map(
        (each, slot) => each && pickToken(all, slot * vocabSize, vocabSize, each.pick, each.stream),
      );
    },
  };
}
