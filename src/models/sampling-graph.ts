import { Graph, type Value } from "../autodiff/graph.ts";
import { swiglu } from "../autodiff/ops/composites.ts";
import { add, mul } from "../autodiff/ops/elementwise.ts";
import { gather } from "../autodiff/ops/indexing.ts";
import { matMul } from "../autodiff/ops/linear.ts";
import { groupQueryAttention, rmsNorm, softmax } from "../autodiff/ops/nn.ts";
import { reshape } from "../autodiff/ops/shape.ts";
import type { DecoderConfig } from "./config.ts";
import { rotaryTables, TRANSPOSED } from "./decoder.ts";
import { EMBEDDING, FINAL_NORM, HEAD, layerNames } from "./parameters.ts";

/** Names of one layer's key and value caches: inputs under these names, outputs with `.next` after them. */
export function cacheNames(layer: number): { key: string; value: string } {
  return { key: `cache.${layer}.key`, value: `cache.${layer}.value` };
}

export interface SamplingShape {
  /** Sequences run together. More than one needs `chunk` 1 (the runtime's attention asks for it). */
  rows: number;
  /** New tokens per sequence. */
  chunk: number;
  /** Positions that the cache holds. */
  capacity: number;
}

/**
 * The decoder as sampling runs it: new tokens against a key/value cache [rows, KV, capacity, d] that is written in place.
 * Weights are the transposed copies [in, out]; `parameters` is not needed for gradients here.
 *
 * Inputs: `ids` int32 [rows, chunk]; `lastPosition` int32 [rows], the position of each row's last new token; `length` int32 [1],
 * the longest row's number of positions; with `scores`, `inverseTemperature` float32 [rows, 1]. Positions after a row's real
 * tokens may hold garbage: they are overwritten before anything attends to them.
 *
 * @param options.scores false leaves the vocabulary out: filling the cache needs no scores.
 * @returns the graph and its outputs: the caches and `probabilities` [rows, V] of each row's next token.
 */
export function samplingGraph(
  config: DecoderConfig,
  { rows, chunk, capacity }: SamplingShape,
  options: { scores: boolean },
): { graph: Graph; outputs: Record<string, Value> } {
  const graph = new Graph();
  const { hiddenSize, headDim, heads, kvHeads } = config;
  const weight = (name: string, shape: readonly number[]): Value =>
    graph.inputs.find((input) => input.name === name) ?? graph.input(name, "float32", shape);
  const matrix = (x: Value, name: string, columns: number, bias?: string): Value => {
    const product = matMul([x, weight(name + TRANSPOSED, [x.shape.at(-1)!, columns])]);
    return bias === undefined ? product : add([product, weight(bias, [columns])]);
  };
  const ids = graph.input("ids", "int32", [rows, chunk]);
  const lastPosition = graph.input("lastPosition", "int32", [rows]);
  const length = graph.input("length", "int32", [1]);
  const rotary = rotaryTables(graph, config, capacity);
  const outputs: Record<string, Value> = {};
  const biased = config.architecture === "qwen2";
  let x = gather([weight(EMBEDDING, [config.vocabSize, hiddenSize]), reshape(ids, [rows * chunk])]);
  for (let layer = 0; layer < config.layers; layer++) {
    const names = layerNames(layer);
    const cache = cacheNames(layer);
    const normal = rmsNorm(x, weight(names.inputNorm, [hiddenSize]), config.normEpsilon);
    const project = (name: string, bias: string, count: number): Value =>
      reshape(matrix(normal, name, count * headDim, biased ? bias : undefined), [
        ...[rows, chunk, count * headDim],
      ]);
    const cacheShape = [rows, kvHeads, capacity, headDim];
    const [mixed, keys, values] = graph.apply(
      groupQueryAttention,
      [
        project(names.q, names.qBias, heads),
        project(names.k, names.kBias, kvHeads),
        project(names.v, names.vBias, kvHeads),
        graph.input(cache.key, "float32", cacheShape),
        graph.input(cache.value, "float32", cacheShape),
        ...[lastPosition, length, rotary.cos, rotary.sin],
      ],
      { num_heads: heads, kv_num_heads: kvHeads, do_rotary: 1 },
    );
    outputs[`${cache.key}.next`] = keys!;
    outputs[`${cache.value}.next`] = values!;
    // The last layer's output is not needed when only the cache is filled.
    if (!options.scores && layer === config.layers - 1) break;
    x = add([x, matrix(reshape(mixed!, [rows * chunk, heads * headDim]), names.o, hiddenSize)]);
    const second = rmsNorm(x, weight(names.postNorm, [hiddenSize]), config.normEpsilon);
    const gate = matrix(second, names.gate, config.intermediateSize);
    const up = matrix(second, names.up, config.intermediateSize);
    x = add([x, matrix(swiglu(gate, up), names.down, hiddenSize)]);
  }
  if (options.scores) {
    const hidden = rmsNorm(x, weight(FINAL_NORM, [hiddenSize]), config.normEpsilon);
    const scores = matrix(hidden, config.tiedEmbeddings ? EMBEDDING : HEAD, config.vocabSize);
    const inverseTemperature = graph.input("inverseTemperature", "float32", [rows, 1]);
    outputs["probabilities"] = softmax([mul([scores, inverseTemperature])], { axis: -1 });
  }
  return { graph, outputs };
}
