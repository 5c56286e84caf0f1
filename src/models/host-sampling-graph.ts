import { Graph, intVector, scalarLike, sizeOf, type Value } from "../autodiff/graph.ts";
import {
  add,
  and,
  castTo,
  greater,
  less,
  lessOrEqual,
  mul,
  where,
} from "../autodiff/ops/elementwise.ts";
import { gather } from "../autodiff/ops/indexing.ts";
import { fusedMatMul, matMul } from "../autodiff/ops/linear.ts";
import { rmsNorm, rotaryEmbedding, softmax } from "../autodiff/ops/nn.ts";
import type { ByteType } from "../autodiff/ops/quantised.ts";
import { concat, reshapeTo, slice, splitTo, transpose } from "../autodiff/ops/shape.ts";
import { windowOf, type DecoderConfig } from "./config.ts";
import { MASKED } from "./decoder.ts";
import { FINAL_NORM, layerNames } from "./parameters.ts";
import { cacheNames } from "./sampling-graph.ts";
import { int8SamplingWeights } from "./int8/weights.ts";
import { samplingWeights, type SamplingWeightOptions } from "./sampling-weights.ts";

/** Lengths of a run. The graph accepts any: these are an example, by which its memory is planned. */
export interface HostSamplingShape {
  /**
   * Rows stand in groups, each with caches of its own length, because each row's attention costs what its group's longest does. A group
   * may have no rows.
   */
  groups: readonly { rows: number; capacity: number }[];
  /** New tokens per sequence. */
  chunk: number;
  /** New tokens whose successors are wanted. */
  sampled: number;
}

/** Names of the inputs besides weights and caches. */
export const HOST_INPUTS = {
  /** int32 [R · C], row by row. */
  ids: "ids",
  /** int32 [R · C] */
  positions: "positions",
  /** int64 [2]: R and C. */
  shape: "shape",
  /** int64 [groups]: rows of each. */
  groupRows: "groupRows",
  /** int32 [R]: number of visible positions in each row's cache. */
  filled: "filled",
  /** int32 [C]: 0, 1, … */
  steps: "steps",
  /** int32 [S]: indices of tokens. */
  sampled: "sampled",
  /** float32 [S, 1] */
  inverseTemperature: "inverseTemperature",
  /** float32 [positions, d / 2] */
  cos: "rotary.cos",
  sin: "rotary.sin",
} as const;

/** Names of a group's inputs besides its caches, which have the group's number after their name. */
export function groupInputs(group: number): Record<"lengths" | "cached", string> {
  return {
    /** int64 [2]: the caches' positions, and C. */
    lengths: `lengths.${group}`,
    /** int32 [capacity]: 0, 1, … */
    cached: `cachePositions.${group}`,
  };
}

export interface HostSamplingOptions extends SamplingWeightOptions {
  int8?: ByteType | null;
}

/**
 * The decoder for sampling with caches in host memory: new tokens of several rows against their caches, all of any length, so that one
 * compiled graph serves prompts and single steps, and its constants are stored once. The graph only reads the caches, and the caller
 * writes the new keys and values afterwards: a cache among the outputs would be copied at every run (docs/lab-log.md).
 *
 * New tokens see their row's filled cache, and each other causally. Cached positions come first in the softmax, and their number is a
 * multiple of CACHE_STEP: each number is then summed in the same lane for any capacity, so a row's result does not depend on the length
 * of the others.
 *
 * @param options.int8 the type of matrices of 8 bits; null: products are of float32.
 * @returns the graph, its outputs (`probabilities` [S, V] of the successors, and each layer's new keys and values [R, KV, C, d] under
 *   `cacheNames` plus `.new`), and the inputs that are to be constants.
 */
export function hostSamplingGraph(
  config: DecoderConfig,
  shape: HostSamplingShape,
  options: HostSamplingOptions,
): { graph: Graph; outputs: Record<string, Value>; constants: ReadonlySet<string> } {
  const graph = new Graph();
  const { groups, chunk } = shape;
  const { headDim, heads, kvHeads } = config;
  const rows = groups.reduce((sum, each) => sum + each.rows, 0);
  const longest = Math.max(...groups.map(({ capacity }) => capacity));
  const tokens = rows * chunk;
  const { int8 = null, frozen = null, lora = null } = options;
  const weights =
    int8 === null
      ? samplingWeights(graph, config, options)
      : int8SamplingWeights(graph, config, { frozen, lora, type: int8 });
  const ids = graph.input(HOST_INPUTS.ids, "int32", [tokens], { 0: "tokens" });
  const positions = graph.input(HOST_INPUTS.positions, "int32", [tokens], { 0: "tokens" });
  const sampled = graph.input(HOST_INPUTS.sampled, "int32", [shape.sampled], { 0: "sampled" });
  const table = (name: string): Value =>
    graph.input(name, "float32", [longest + chunk, headDim / 2], { 0: "positions" });
  const [cos, sin] = [table(HOST_INPUTS.cos), table(HOST_INPUTS.sin)];
  // The row-wise parts of the graph see all tokens as one row.
  const places = castTo(freely(positions, [1, -1]), "int64");
  const form = attentionForm(graph, config, shape);
  const rotate = (x: Value, norm: string, count: number): Value => {
    const width = count * headDim;
    const normal = (): Value =>
      rmsNorm(freely(x, [-1, headDim]), weights.vector(norm, headDim), config.normEpsilon);
    const wide = freely(config.qkNorm ? normal() : x, [1, -1, width]);
    return rotaryEmbedding([wide, places, cos, sin], { num_heads: count });
  };
  const outputs: Record<string, Value> = {};
  let x = weights.embed(ids);
  for (let layer = 0; layer < config.layers; layer++) {
    const names = layerNames(layer);
    const cache = cacheNames(layer);
    const inputs = weights.attentionInputs(x, layer);
    const q = rotate(inputs.q, names.qNorm, heads);
    const k = rotate(inputs.k, names.kNorm, kvHeads);
    const keys = form.perHead(k);
    const values = form.perHead(inputs.v);
    outputs[`${cache.key}.new`] = keys;
    outputs[`${cache.value}.new`] = values;
    const mixed = form.attend(q, { keys, values, window: windowOf(config, layer), cache });
    x = weights.withAttention(x, mixed, layer);
    if (layer === config.layers - 1) x = gather([x, sampled]);
    x = weights.withFeedForward(x, layer);
  }
  const hidden = weights.norm(x, FINAL_NORM);
  const inverse = graph.input(HOST_INPUTS.inverseTemperature, "float32", [shape.sampled, 1], {
    0: "sampled",
  });
  // The temperature divides the scores; it is applied to the hidden states, which are smaller.
  outputs["probabilities"] = softmax([weights.scores(mul([hidden, inverse]))], { axis: -1 });
  return { graph, outputs, constants: weights.constants };
}

/** The same elements in another shape, whose length -1 is what is left. */
function freely(x: Value, shape: readonly number[]): Value {
  const known = shape.reduce((product, each) => (each < 0 ? product : product * each), 1);
  const example = shape.map((each) => (each < 0 ? sizeOf(x.shape) / known : each));
  return reshapeTo(x, intVector(x.graph, shape), example);
}

interface AttentionForm {
  /** [R · C, KV · d] → [R, KV, C, d] */
  perHead(x: Value): Value;
  /** Attention over cached and new tokens under one softmax: [R · C, H · d]. @param at.cache names of a layer's caches. */
  attend(
    q: Value,
    at: { keys: Value; values: Value; window: number; cache: { key: string; value: string } },
  ): Value;
}

/** Attention whose numbers of rows, new tokens and cached positions are only known in a run. Query heads are stacked as in training. */
function attentionForm(
  graph: Graph,
  config: DecoderConfig,
  { groups, chunk }: HostSamplingShape,
): AttentionForm {
  const { kvHeads, headDim, heads } = config;
  const group = heads / kvHeads;
  const stacked = group * chunk;
  const vector = (...numbers: number[]): Value => intVector(graph, numbers);
  const joined = (...parts: Value[]): Value => concat(parts, { axis: 0 });
  const both = graph.input(HOST_INPUTS.shape, "int64", [2]);
  const rowCount = slice(both, 0, 0, 1);
  const counts = groups.map(({ rows }) => rows);
  const rows = counts.reduce((sum, each) => sum + each, 0);
  const groupRows = graph.input(HOST_INPUTS.groupRows, "int64", [groups.length]);
  const shapes = {
    queries: joined(both, vector(kvHeads, group, headDim)),
    stacked: joined(rowCount, vector(kvHeads, -1, headDim)),
    unstacked: joined(rowCount, vector(kvHeads, group, -1, headDim)),
    keys: joined(both, vector(kvHeads, headDim)),
    flat: vector(-1, heads * headDim),
  };
  const byGroup = (x: Value): readonly Value[] => splitTo(x, 0, groupRows, counts);
  const filled = byGroup(graph.input(HOST_INPUTS.filled, "int32", [rows], { 0: "rows" }));
  const steps = graph.input(HOST_INPUTS.steps, "int32", [chunk], { 0: "chunk" });
  const among = freshMasks(steps, group, config.maxPositions);
  const parts = groups.map(({ rows: count, capacity }, i) => {
    const names = groupInputs(i);
    const places = graph.input(names.cached, "int32", [capacity], { 0: `capacity.${i}` });
    return {
      masks: cachedMasks({ places, filled: filled[i]!, steps }, group, config.maxPositions),
      lengths: graph.input(names.lengths, "int64", [2]),
      capacity,
      cache: (name: string): Value =>
        graph.input(`${name}.${i}`, "float32", [count, kvHeads, capacity, headDim], {
          0: `rows.${i}`,
          2: `capacity.${i}`,
        }),
    };
  });
  const scale = { transB: 1, alpha: { float: 1 / Math.sqrt(headDim) } };
  return {
    perHead: (x) =>
      transpose(reshapeTo(x, shapes.keys, [rows, chunk, kvHeads, headDim]), [0, 2, 1, 3]),
    attend(q, { keys, values, window, cache }) {
      const apart = reshapeTo(q, shapes.queries, [rows, chunk, kvHeads, group, headDim]);
      const queries = reshapeTo(transpose(apart, [0, 2, 3, 1, 4]), shapes.stacked, [
        ...[rows, kvHeads, stacked, headDim],
      ]);
      const [own, fresh, freshValues] = [queries, keys, values].map(byGroup);
      const mixed = parts.map((part, i) => {
        const scores = [
          add([fusedMatMul([own![i]!, part.cache(cache.key)], scale), part.masks(window)]),
          add([fusedMatMul([own![i]!, fresh![i]!], scale), among(window)]),
        ];
        const all = softmax([concat(scores, { axis: 3 })], { axis: -1 });
        const [before, now] = splitTo(all, 3, part.lengths, [part.capacity, chunk]) as [
          Value,
          Value,
        ];
        return add([matMul([before, part.cache(cache.value)]), matMul([now, freshValues![i]!])]);
      });
      const unstacked = reshapeTo(joined(...mixed), shapes.unstacked, [
        ...[rows, kvHeads, group, chunk, headDim],
      ]);
      const back = transpose(unstacked, [0, 3, 1, 2, 4]);
      return reshapeTo(back, shapes.flat, [rows * chunk, heads * headDim]);
    },
  };
}

/** 0 where a token is seen, else MASKED. */
function maskOf(seen: Value): Value {
  const masked = seen.graph.constant("float32", [], [MASKED]);
  return where([seen, scalarLike(masked, 0), masked]);
}

function stack(x: Value, times: number, axis: number): Value {
  return concat(
    Array.from({ length: times }, () => x),
    { axis },
  );
}

/** One value per window; all that hold every position are one. */
function perWindow(
  maxPositions: number,
  make: (window: number) => Value,
): (window: number) => Value {
  const made = new Map<number, Value>();
  return (window) => {
    const key = window < maxPositions ? window : Infinity;
    const found = made.get(key) ?? make(key);
    made.set(key, found);
    return found;
  };
}

/** The masks of a group's cached positions: [R, 1, 1, capacity], or with a window [R, 1, G · C, capacity]. */
function cachedMasks(
  { places, filled, steps }: Record<"places" | "filled" | "steps", Value>,
  group: number,
  maxPositions: number,
): (window: number) => Value {
  const heldBy = freely(filled, [-1, 1, 1, 1]);
  const held = less([places, heldBy]);
  return perWindow(maxPositions, (window) => {
    if (window === Infinity) return maskOf(held);
    // A token at position t sees position p if t − p < window.
    const position = add([heldBy, freely(steps, [-1, 1])]); // [R, 1, C, 1]
    const near = greater([add([places, scalarLike(places, window)]), position]);
    return stack(maskOf(and([held, near])), group, 2);
  });
}

/** The masks of new tokens among each other: [G · C, C]. */
function freshMasks(steps: Value, group: number, maxPositions: number): (window: number) => Value {
  const column = freely(steps, [-1, 1]);
  const causal = lessOrEqual([steps, column]);
  return perWindow(maxPositions, (window) => {
    if (window === Infinity) return stack(maskOf(causal), group, 0);
    const near = greater([add([steps, scalarLike(steps, window)]), column]);
    return stack(maskOf(and([causal, near])), group, 0);
  });
}
