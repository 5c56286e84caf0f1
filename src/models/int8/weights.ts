import { inputOnce, type DType, type Graph, type Value } from "../../autodiff/graph.ts";
import { swiglu } from "../../autodiff/ops/composites.ts";
import { add } from "../../autodiff/ops/elementwise.ts";
import { matMul } from "../../autodiff/ops/linear.ts";
import { rmsNorm } from "../../autodiff/ops/nn.ts";
import {
  int8Product,
  quantiseRows,
  type ByteType,
  type QuantisedRows,
} from "../../autodiff/ops/quantised.ts";
import { storageOf } from "../../autodiff/frozen.ts";
import type { DecoderConfig } from "../config.ts";
import { embedded, type Layout } from "../decoder.ts";
import { withAdapter, type LoraConfig } from "../lora/lora.ts";
import { EMBEDDING, HEAD, layerNames } from "../parameters.ts";
import type { SamplingWeights } from "../sampling-weights.ts";
import {
  BLOCK_MIXING,
  BYTES,
  int8Matrices,
  isMixed,
  MIXED,
  mixedBlocks,
  MIXING,
  mixingSizes,
  SCALE,
} from "./matrices.ts";

/** A decoder's weights for sampling in 8 bits: what a layer multiplies is quantised token by token, and its matrix as `quantisingGraph` does. */
export function int8SamplingWeights(
  graph: Graph,
  config: DecoderConfig,
  { frozen, lora, type }: Pick<Layout, "frozen"> & { lora: LoraConfig | null; type: ByteType },
): SamplingWeights {
  const { hiddenSize } = config;
  const constants = new Set<string>();
  const matrices = new Map(int8Matrices(config).map((each) => [each.name, each]));
  const weight = (name: string, shape: readonly number[], dtype: DType = "float32"): Value =>
    inputOnce(graph, name, dtype, shape);
  const constant = (name: string, shape: readonly number[], dtype?: DType): Value => {
    constants.add(name);
    return weight(name, shape, dtype);
  };
  const sizes = mixingSizes(config);
  const mixing = (name: string): Value => constant(name, [sizes[name]!, sizes[name]!]);
  const ones = graph.constant("float32", [hiddenSize], new Array<number>(hiddenSize).fill(1));
  const norm = (x: Value): Value => rmsNorm(x, ones, config.normEpsilon);
  const product = (rows: QuantisedRows, name: string): Value => {
    const [out, inner] = matrices.get(name)!.shape;
    const bytes = constant(name + BYTES, [inner, out], type);
    return int8Product(rows, bytes, constant(name + SCALE, [out]));
  };
  /** A linear layer, with its adapter. @param x what it reads, before its blocks are mixed. */
  const project = (x: Value, rows: QuantisedRows, name: string, bias?: string): Value => {
    const matrix = matrices.get(name)!;
    const own = product(rows, name);
    const whole = bias === undefined ? own : add([own, weight(bias, [matrix.shape[0]])]);
    const at = (adapter: string, size: readonly number[]): Value =>
      weight(isMixed(matrix, adapter) ? adapter + MIXED : adapter, size);
    return withAdapter(lora, name, { x, product: whole, at });
  };
  return {
    constants,
    vector: (name, size) => weight(name, [size]),
    embed(ids) {
      const held = frozen === null ? "float32" : storageOf(frozen);
      const table = weight(EMBEDDING, [config.vocabSize, hiddenSize], held);
      return matMul([embedded(table, ids), mixing(MIXING)]);
    },
    norm,
    attentionInputs(x, layer) {
      const names = layerNames(layer);
      const first = norm(x);
      const rows = quantiseRows(first);
      const heads = (name: string, bias: string): Value =>
        project(first, rows, name, config.qkvBias ? bias : undefined);
      return {
        q: heads(names.q, names.qBias),
        k: heads(names.k, names.kBias),
        v: heads(names.v, names.vBias),
      };
    },
    withAttention: (x, heads, layer) =>
      add([x, project(heads, quantiseRows(heads), layerNames(layer).o)]),
    withFeedForward(x, layer) {
      const names = layerNames(layer);
      const second = norm(x);
      const rows = quantiseRows(second);
      const gated = swiglu(project(second, rows, names.gate), project(second, rows, names.up));
      const blocks = quantiseRows(mixedBlocks(gated, mixing(BLOCK_MIXING)));
      return add([x, project(gated, blocks, names.down)]);
    },
    scores: (x) => product(quantiseRows(x), config.tiedEmbeddings ? EMBEDDING : HEAD),
  };
}
