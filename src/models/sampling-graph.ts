import { Graph, scalarLike, type Value } from "../autodiff/graph.ts";
import { addMask } from "../autodiff/ops/composites.ts";
import { add, castTo, greater, less, mul, where } from "../autodiff/ops/elementwise.ts";
import { gather, scatterNd } from "../autodiff/ops/indexing.ts";
import { matMul } from "../autodiff/ops/linear.ts";
import { rotaryEmbedding, softmax } from "../autodiff/ops/nn.ts";
import { concat, expand, reshape, slice, transpose } from "../autodiff/ops/shape.ts";
import { windowOf, type DecoderConfig } from "./config.ts";
import { causalMasks, MASKED, normHeads, rotaryTables, stepsOf } from "./decoder.ts";
import { FINAL_NORM, layerNames } from "./parameters.ts";
import { pick } from "./pick-graph.ts";
import { samplingWeights, type SamplingWeightOptions } from "./sampling-weights.ts";

/**
 * Names of a layer's key and value caches, inputs of both sampling graphs: [.., KV, d, capacity] and [.., KV, capacity, d] on a device,
 * [R, KV, capacity, d] both in host memory.
 */
export function cacheNames(layer: number): { key: string; value: string } {
  return { key: `cache.${layer}.key`, value: `cache.${layer}.value` };
}

/**
 * Capacities are multiples of this, and the new tokens' part of a row of attention weights is padded to one: a kernel then sums
 * position p in the same lane for any capacity, so that a row's result does not depend on the length of the others.
 */
export const CACHE_STEP = 64;

interface SamplingShape {
  rows: number;
  /** New tokens per sequence. */
  chunk: number;
  /** Positions in the cache: a multiple of CACHE_STEP. */
  capacity: number;
  slots: number;
}

interface SamplingOptions extends Omit<SamplingWeightOptions, "packed"> {
  /**
   * The outputs besides the caches, for chunk 1: `probabilities` [rows, V] of the next token; or a draw, `id` int32
   * [rows, 1] and `logprob` [rows, 1]; or nothing, for prefill.
   */
  gives: "probabilities" | "picks" | "nothing";
}

/**
 * The decoder for sampling with a cache in device memory, which the graph writes: new tokens against the cache. The order of reading
 * and writing a position does not matter, because new positions are masked in the cache and enter attention separately. There is one
 * graph per shape, because constants save transfers. The graph for a cache in host memory is `hostSamplingGraph`.
 *
 * Inputs: `ids` and `positions`, int32 [rows, chunk]; `filled` int32 [rows], number of visible positions in each row's cache; `slot`
 * int32 [rows], each row's cache slot; `written` int32 [rows, chunk], the positions of its new tokens; for probabilities and picks,
 * `inverseTemperature` float32 [rows, 1]; for picks, `uniform` and `greedy` as `pick` has them.
 * New tokens see the filled cache, and each other causally; values after a row's real tokens may be garbage.
 *
 * @returns the graph and its outputs: the whole caches under `cacheNames` plus `.next`, and the requested results.
 */
export function samplingGraph(
  config: DecoderConfig,
  shape: SamplingShape,
  options: SamplingOptions,
): { graph: Graph; outputs: Record<string, Value> } {
  const graph = new Graph();
  const { rows, chunk, capacity, slots } = shape;
  const { headDim, heads, kvHeads } = config;
  const weights = samplingWeights(graph, config, options);
  const ids = graph.input("ids", "int32", [rows, chunk]);
  const positions = graph.input("positions", "int32", [rows, chunk]);
  const places = castTo(positions, "int64");
  const filled = graph.input("filled", "int32", [rows]);
  const slot = graph.input("slot", "int32", [rows]);
  const writer = cacheWriter(slot, graph.input("written", "int32", [rows, chunk]), config);
  const tables = rotaryTables(graph, config, capacity + chunk);
  const rotate = (x: Value, norm: string, count: number): Value => {
    const normal = config.qkNorm ? normHeads(config, x, weights.vector(norm, headDim)) : x;
    const wide = reshape(normal, [rows, chunk, count * headDim]);
    return rotaryEmbedding([wide, places, tables.cos, tables.sin], { num_heads: count });
  };
  const masks = {
    fresh: causalMasks(stepsOf(ids, chunk)),
    cached: cacheMasks(shape, heads / kvHeads, { positions, filled }),
  };
  const outputs: Record<string, Value> = {};
  let x = weights.embed(reshape(ids, [rows * chunk]));
  for (let layer = 0; layer < config.layers; layer++) {
    const names = layerNames(layer);
    const cache = cacheNames(layer);
    const inputs = weights.attentionInputs(x, layer);
    const q = rotate(inputs.q, names.qNorm, heads);
    const k = rotate(inputs.k, names.kNorm, kvHeads);
    const split = [rows, chunk, kvHeads, headDim];
    const keys = transpose(reshape(k, split), [0, 2, 3, 1]);
    const values = transpose(reshape(inputs.v, split), [0, 2, 1, 3]);
    const allKeys = graph.input(cache.key, "float32", [slots, kvHeads, headDim, capacity]);
    const allValues = graph.input(cache.value, "float32", [slots, kvHeads, capacity, headDim]);
    outputs[`${cache.key}.next`] = writer.keys(allKeys, keys);
    outputs[`${cache.value}.next`] = writer.values(allValues, values);
    // For prefill, the last layer's output is not needed.
    if (options.gives === "nothing" && layer === config.layers - 1) break;
    const window = windowOf(config, layer);
    const seen = (all: Value): Value => (rows === slots ? all : gather([all, slot]));
    const mixed = attendCache(config, shape, q, {
      keys,
      values,
      // A single new token sees only itself and needs no mask.
      freshMask: chunk === 1 ? null : masks.fresh(window),
      cacheMask: masks.cached(window),
      cachedKeys: seen(allKeys),
      cachedValues: seen(allValues),
    });
    x = weights.withAttention(x, mixed, layer);
    x = weights.withFeedForward(x, layer);
  }
  if (options.gives === "nothing") return { graph, outputs };
  const hidden = weights.norm(x, FINAL_NORM);
  const perRow = (name: string): Value => graph.input(name, "float32", [rows, 1]);
  // The temperature divides the scores; it is applied to the hidden states, which are smaller.
  const scores = weights.scores(mul([hidden, perRow("inverseTemperature")]));
  const probabilities = softmax([scores], { axis: -1 });
  if (options.gives === "probabilities") outputs["probabilities"] = probabilities;
  else
    Object.assign(
      outputs,
      pick(probabilities, { uniform: perRow("uniform"), greedy: perRow("greedy") }),
    );
  return { graph, outputs };
}

/**
 * The mask of cached positions per window: 0 where a row's cache is filled and within the window of a new token, else MASKED;
 * [rows, 1, 1, capacity] or, when the window is shorter, [rows, 1, G · chunk, capacity].
 *
 * @param at.positions of the new tokens.
 */
function cacheMasks(
  { rows, chunk, capacity }: SamplingShape,
  group: number,
  { positions, filled }: { positions: Value; filled: Value },
): (window: number) => Value {
  const masked = positions.graph.constant("float32", [], [MASKED]);
  const upFrom = (first: number): Value => {
    const places = Array.from({ length: capacity }, (_, at) => first + at);
    return positions.graph.constant("int32", [capacity], places);
  };
  const held = less([upFrom(0), reshape(filled, [rows, 1, 1, 1])]);
  const all = where([held, scalarLike(masked, 0), masked]);
  const made = new Map<number, Value>();
  return (window) => {
    // The furthest new token has this many positions up to it.
    if (window >= capacity + chunk) return all;
    let mask = made.get(window);
    if (mask === undefined) {
      const apart = reshape(positions, [rows, 1, 1, chunk]);
      const spread = expand(apart, [rows, 1, group, chunk]);
      const queries = reshape(spread, [rows, 1, group * chunk, 1]);
      // Query t sees position p if t − p < window.
      mask = where([greater([upFrom(window), queries]), all, masked]);
      made.set(window, mask);
    }
    return mask;
  };
}

/** Attention over new and cached tokens under one softmax: [rows · chunk, H · d]. Query heads are stacked as in training. */
function attendCache(
  config: DecoderConfig,
  { rows, chunk }: SamplingShape,
  q: Value,
  at: Record<"keys" | "values" | "cacheMask" | "cachedKeys" | "cachedValues", Value> & {
    freshMask: Value | null;
  },
): Value {
  const { kvHeads, headDim } = config;
  const group = config.heads / kvHeads;
  const stacked = group * chunk;
  const queries = reshape(
    transpose(reshape(q, [rows, chunk, kvHeads, group, headDim]), [0, 2, 3, 1, 4]),
    [rows, kvHeads, stacked, headDim],
  );
  const scaled = mul([queries, scalarLike(queries, 1 / Math.sqrt(headDim))]);
  const among = matMul([scaled, at.keys]);
  const fresh = at.freshMask === null ? among : addMask(among, at.freshMask);
  const cached = add([matMul([scaled, at.cachedKeys]), at.cacheMask]);
  const start = Math.ceil(chunk / CACHE_STEP) * CACHE_STEP;
  const gap = expand(scalarLike(q, MASKED), [rows, kvHeads, stacked, start - chunk]);
  const parts = start === chunk ? [fresh, cached] : [fresh, gap, cached];
  const weights = softmax([concat(parts, { axis: 3 })], { axis: -1 });
  const mixed = add([
    matMul([slice(weights, 3, 0, chunk), at.values]),
    matMul([slice(weights, 3, start), at.cachedValues]),
  ]);
  const apart = transpose(reshape(mixed, [rows, kvHeads, group, chunk, headDim]), [0, 3, 1, 2, 4]);
  return reshape(apart, [rows * chunk, config.heads * headDim]);
}

/** Writes new keys and values into caches of all slots. */
interface CacheWriter {
  /** Keys [R, KV, d, C] into [slots, KV, d, capacity]. */
  keys(cache: Value, fresh: Value): Value;
  /** Values [R, KV, C, d] into [slots, KV, capacity, d]. */
  values(cache: Value, fresh: Value): Value;
}

/**
 * Writes inside the graph, for caches in device memory: a scatter whose output is its own input cache (given as a fetch) moves
 * only the new elements. Indices are computed from two small inputs.
 *
 * @param slots int32 [R]: the cache slot of each row. @param positions int32 [R, C].
 * @param sizes numbers of key/value heads and of elements per head.
 */
function cacheWriter(
  slots: Value,
  positions: Value,
  { kvHeads, headDim }: { kvHeads: number; headDim: number },
): CacheWriter {
  const { graph } = slots;
  const [rows, chunk] = positions.shape as readonly [number, number];
  /** Index vectors over axes [R, KV, (d,) C], each part broadcast over the other axes. */
  const indices = (withinHead: boolean): Value => {
    const axes = withinHead ? [rows, kvHeads, headDim, chunk] : [rows, kvHeads, chunk];
    const spread = (part: Value, at: readonly number[]): Value =>
      expand(reshape(part, [...axes.map((n, i) => (at.includes(i) ? n : 1)), 1]), [...axes, 1]);
    const numbers = (count: number): Value =>
      graph.constant(
        "int32",
        [count],
        Array.from({ length: count }, (_, i) => i),
      );
    const parts = [
      spread(slots, [0]),
      spread(numbers(kvHeads), [1]),
      ...(withinHead ? [spread(numbers(headDim), [2])] : []),
      spread(positions, [0, axes.length - 1]),
    ];
    return castTo(concat(parts, { axis: axes.length }), "int64");
  };
  const made = { keys: indices(true), values: indices(false) };
  return {
    keys: (cache, fresh) => scatterNd([cache, made.keys, fresh]),
    values: (cache, fresh) => scatterNd([cache, made.values, fresh]),
  };
}
