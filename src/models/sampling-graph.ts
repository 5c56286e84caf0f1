import { frozenProduct, isStoredHalf, storageOf } from "../autodiff/frozen.ts";
import { Graph, scalarLike, type DType, type Value } from "../autodiff/graph.ts";
import { addMask, swiglu } from "../autodiff/ops/composites.ts";
import { add, castTo, greater, less, mul, where } from "../autodiff/ops/elementwise.ts";
import { gather } from "../autodiff/ops/indexing.ts";
import { gemm, matMul } from "../autodiff/ops/linear.ts";
import { rmsNorm, rotaryEmbedding, softmax } from "../autodiff/ops/nn.ts";
import { concat, expand, reshape, slice, transpose } from "../autodiff/ops/shape.ts";
import { cacheWriter } from "./cache-writes.ts";
import { windowOf, type DecoderConfig } from "./config.ts";
import { causalMasks, embedded, MASKED, normHeads, TRANSPOSED, type Layout } from "./decoder.ts";
import { withAdapter, type LoraConfig } from "./lora/lora.ts";
import { CAPACITY, constantTables, givenTables, type PositionTables } from "./position-tables.ts";
import { EMBEDDING, FINAL_NORM, HEAD, layerNames } from "./parameters.ts";
import { pick } from "./pick-graph.ts";

/**
 * Names of a layer's key and value caches, [.., KV, d, capacity] and [.., KV, capacity, d], both inputs. The outputs are the new
 * tokens' keys and values [rows, KV, d, chunk] and [rows, KV, chunk, d] under these names plus `.new` or, when the graph writes
 * the caches itself, the caches under these names plus `.next`.
 */
export function cacheNames(layer: number): { key: string; value: string } {
  return { key: `cache.${layer}.key`, value: `cache.${layer}.value` };
}

/**
 * Capacities are multiples of this, and the new tokens' part of a row of attention weights is padded to one: a kernel then sums
 * position p in the same lane for any capacity, so that a row's result does not depend on the length of the others.
 */
export const CACHE_STEP = 64;

/** Limit on the float32 bytes of a frozen matrix at once. */
const WIDENED_BYTES = 16 * 2 ** 20;

export interface SamplingShape {
  /** Number of sequences. */
  rows: number;
  /** New tokens per sequence. */
  chunk: number;
  /** Positions in the cache: a multiple of CACHE_STEP. Without `slots` an example: the graph then accepts any. */
  capacity: number;
}

/** If matrices have both layouts (the default), weights are the transposed copies [in, out]. */
export interface SamplingOptions extends Partial<Layout> {
  /**
   * The outputs besides keys and values, for chunk 1: `probabilities` [rows, V] of the next token; or a draw, `id` int32
   * [rows, 1] and `logprob` [rows, 1]; or nothing, for prefill.
   */
  gives: "probabilities" | "picks" | "nothing";
  /** Adapters, whose A and B are inputs too, without transposed copies. */
  lora?: LoraConfig | null;
  /** Number of slots in caches that the graph writes in place; absent: caches of the rows only, which the caller writes. */
  slots?: number;
}

/**
 * The decoder for sampling: new tokens against a key/value cache. In host memory the graph only reads the cache, and the caller
 * writes the new keys and values afterwards: a cache among the outputs would be copied at every run (docs/lab-log.md).
 * In device memory the graph writes it (`slots`); the order of reading and writing a position does not matter,
 * because new positions are masked in the cache and enter attention separately. A graph for host memory accepts caches of any
 * capacity, because a cache grows often and a compilation takes as long as ten runs; on a device, constants save transfers.
 *
 * Inputs: `ids` and `positions`, int32 [rows, chunk]; `filled` int32 [rows], number of visible positions in each row's cache; with
 * `slots`, `slot` int32 [rows], each row's cache slot, and `written` int32 [rows, chunk], the positions of its new tokens; for
 * probabilities and picks,
 * `inverseTemperature` float32 [rows, 1]; for picks, `uniform` and `greedy` as `pick` has them; without `slots`, those of
 * `positionNumbers`.
 * New tokens see the filled cache, and each other causally; values after a row's real tokens may be garbage.
 *
 * @returns the graph and its outputs: new keys and values or whole caches (see `cacheNames`), and the requested results.
 */
export function samplingGraph(
  config: DecoderConfig,
  shape: SamplingShape,
  options: SamplingOptions,
): { graph: Graph; outputs: Record<string, Value> } {
  const graph = new Graph();
  const { rows, chunk, capacity } = shape;
  const { hiddenSize, headDim, heads, kvHeads } = config;
  const { transposed = true, frozen = null, slots = null } = options;
  const weight = (name: string, shape: readonly number[], type: DType = "float32"): Value =>
    graph.inputs.find((input) => input.name === name) ?? graph.input(name, type, shape);
  const asStored = (name: string, shape: readonly number[]): Value =>
    weight(name, shape, frozen === null ? "float32" : storageOf(frozen));
  const times = (x: Value, name: string, columns: number): Value => {
    const inner = x.shape.at(-1)!;
    if (transposed && frozen === null)
      return matMul([x, weight(name + TRANSPOSED, [inner, columns])]);
    const stored = asStored(name, [columns, inner]);
    return isStoredHalf(stored)
      ? frozenProduct(x, stored, WIDENED_BYTES)
      : gemm([x, stored], { transB: 1 });
  };
  const matrix = (x: Value, name: string, columns: number, bias?: string): Value => {
    const product = times(x, name, columns);
    const whole = bias === undefined ? product : add([product, weight(bias, [columns])]);
    return withAdapter(options.lora ?? null, name, { x, product: whole, at: weight });
  };
  const ids = graph.input("ids", "int32", [rows, chunk]);
  const positions = graph.input("positions", "int32", [rows, chunk]);
  const places = castTo(positions, "int64");
  const filled = graph.input("filled", "int32", [rows]);
  const slot = slots === null ? null : graph.input("slot", "int32", [rows]);
  const writer =
    slot === null
      ? null
      : cacheWriter(slot, graph.input("written", "int32", [rows, chunk]), config);
  const furthest = slots === null ? config.maxPositions : capacity + chunk;
  const tables =
    slots === null ? givenTables(graph, config, shape) : constantTables(graph, config, shape);
  const rotate = (x: Value, norm: string, count: number): Value => {
    const normal = config.qkNorm ? normHeads(config, x, weight(norm, [headDim])) : x;
    const wide = reshape(normal, [rows, chunk, count * headDim]);
    return rotaryEmbedding([wide, places, tables.cos, tables.sin], { num_heads: count });
  };
  const masks = {
    fresh: causalMasks(ids, chunk),
    cached: cacheMasks(shape, heads / kvHeads, { positions, filled, tables, furthest }),
  };
  const outputs: Record<string, Value> = {};
  const table = asStored(EMBEDDING, [config.vocabSize, hiddenSize]);
  let x = embedded(table, reshape(ids, [rows * chunk]));
  for (let layer = 0; layer < config.layers; layer++) {
    const names = layerNames(layer);
    const cache = cacheNames(layer);
    const normal = rmsNorm(x, weight(names.inputNorm, [hiddenSize]), config.normEpsilon);
    const project = (name: string, bias: string, count: number): Value =>
      matrix(normal, name, count * headDim, config.qkvBias ? bias : undefined);
    const q = rotate(project(names.q, names.qBias, heads), names.qNorm, heads);
    const k = rotate(project(names.k, names.kBias, kvHeads), names.kNorm, kvHeads);
    const v = project(names.v, names.vBias, kvHeads);
    const split = [rows, chunk, kvHeads, headDim];
    const keys = transpose(reshape(k, split), [0, 2, 3, 1]);
    const values = transpose(reshape(v, split), [0, 2, 1, 3]);
    const cacheRows = slots ?? rows;
    const cacheInput = (name: string, shape: readonly number[], axis: number): Value =>
      graph.input(name, "float32", shape, slots === null ? { axis, name: CAPACITY } : undefined);
    const allKeys = cacheInput(cache.key, [cacheRows, kvHeads, headDim, capacity], 3);
    const allValues = cacheInput(cache.value, [cacheRows, kvHeads, capacity, headDim], 2);
    if (writer === null) {
      outputs[`${cache.key}.new`] = keys;
      outputs[`${cache.value}.new`] = values;
    } else {
      outputs[`${cache.key}.next`] = writer.keys(allKeys, keys);
      outputs[`${cache.value}.next`] = writer.values(allValues, values);
    }
    // For prefill, the last layer's output is not needed.
    if (options.gives === "nothing" && layer === config.layers - 1) break;
    const window = windowOf(config, layer);
    const own = (all: Value): Value =>
      slot === null || rows === slots ? all : gather([all, slot]);
    const mixed = attendCache(config, shape, q, {
      keys,
      values,
      // A single new token sees only itself and needs no mask.
      freshMask: chunk === 1 ? null : masks.fresh(window),
      cacheMask: masks.cached(window),
      cachedKeys: own(allKeys),
      cachedValues: own(allValues),
    });
    x = add([x, matrix(mixed, names.o, hiddenSize)]);
    const second = rmsNorm(x, weight(names.postNorm, [hiddenSize]), config.normEpsilon);
    const gate = matrix(second, names.gate, config.intermediateSize);
    const up = matrix(second, names.up, config.intermediateSize);
    x = add([x, matrix(swiglu(gate, up), names.down, hiddenSize)]);
  }
  if (options.gives === "nothing") return { graph, outputs };
  const hidden = rmsNorm(x, weight(FINAL_NORM, [hiddenSize]), config.normEpsilon);
  const perRow = (name: string): Value => graph.input(name, "float32", [rows, 1]);
  // The temperature divides the scores; it is applied to the hidden states, which are smaller.
  const shaped = mul([hidden, perRow("inverseTemperature")]);
  const scores = matrix(shaped, config.tiedEmbeddings ? EMBEDDING : HEAD, config.vocabSize);
  const probabilities = softmax([scores], { axis: -1 });
  if (options.gives === "probabilities") outputs["probabilities"] = probabilities;
  else
    Object.assign(
      outputs,
      pick(probabilities, { uniform: perRow("uniform"), greedy: perRow("greedy") }),
    );
  return { graph, outputs };
}

interface CacheView {
  /** Of the new tokens. */
  positions: Value;
  filled: Value;
  tables: PositionTables;
  /** Positions that the furthest new token can have before it: a window of as many hides nothing. */
  furthest: number;
}

/**
 * The mask of cached positions per window: 0 where a row's cache is filled and within the window of a new token, else MASKED;
 * [rows, 1, 1, capacity] or, when the window is shorter, [rows, 1, G · chunk, capacity].
 */
function cacheMasks(
  { rows, chunk }: SamplingShape,
  group: number,
  { positions, filled, tables, furthest }: CacheView,
): (window: number) => Value {
  const masked = positions.graph.constant("float32", [], [MASKED]);
  const held = less([tables.cached(0), reshape(filled, [rows, 1, 1, 1])]);
  const all = where([held, scalarLike(masked, 0), masked]);
  const made = new Map<number, Value>();
  return (window) => {
    if (window >= furthest) return all;
    let mask = made.get(window);
    if (mask === undefined) {
      const apart = reshape(positions, [rows, 1, 1, chunk]);
      const spread = expand(apart, [rows, 1, group, chunk]);
      const queries = reshape(spread, [rows, 1, group * chunk, 1]);
      // Query t sees position p if t − p < window.
      mask = where([greater([tables.cached(window), queries]), all, masked]);
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
