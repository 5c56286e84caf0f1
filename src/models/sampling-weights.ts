import { frozenProduct, isStoredHalf, storageOf } from "../autodiff/frozen.ts";
import { inputOnce, type DType, type Graph, type Value } from "../autodiff/graph.ts";
import { swiglu } from "../autodiff/ops/composites.ts";
import { add } from "../autodiff/ops/elementwise.ts";
import { gemm, matMul } from "../autodiff/ops/linear.ts";
import { rmsNorm } from "../autodiff/ops/nn.ts";
import type { DecoderConfig } from "./config.ts";
import { embedded, TRANSPOSED, type Layout } from "./decoder.ts";
import { withAdapter, type LoraConfig } from "./lora/lora.ts";
import { EMBEDDING, HEAD, layerNames } from "./parameters.ts";

/** Suffix of a matrix that is a constant of the compiled graph. */
export const PACKED = ".packed";

/** Limit on the float32 bytes of a frozen matrix at once. */
const WIDENED_BYTES = 16 * 2 ** 20;

/** If matrices have both layouts (the default), weights are the transposed copies [in, out]. */
export interface SamplingWeightOptions extends Partial<Layout> {
  /** Adapters, whose A and B are inputs too, without transposed copies. */
  lora?: LoraConfig | null;
  /** Whether the matrices of products are to be constants of the compiled graph: inputs apart, under their names plus `PACKED`. */
  packed?: boolean;
}

/** The weights of a decoder as inputs of a sampling graph. */
export interface SamplingWeights {
  vector(name: string, size: number): Value;
  /** Rows of the embedding: int32 [N] give [N, D]. */
  embed(ids: Value): Value;
  /** The normalised rows [N, D]. @param name of the norm's scale. */
  norm(x: Value, name: string): Value;
  /** A layer's queries [N, H · d], keys and values [N, KV · d] of its input [N, D], before rotation. */
  attentionInputs(x: Value, layer: number): Record<"q" | "k" | "v", Value>;
  /** The input plus the output projection of what attention mixed [N, H · d]. */
  withAttention(x: Value, mixed: Value, layer: number): Value;
  /** The input plus the layer's feed-forward network. */
  withFeedForward(x: Value, layer: number): Value;
  /** Scores over the vocabulary [N, V]. */
  scores(x: Value): Value;
  /** Inputs that are to be constants of the compiled graph. */
  readonly constants: ReadonlySet<string>;
}

/** Declares weights on first use. */
export function samplingWeights(
  graph: Graph,
  config: DecoderConfig,
  { transposed = true, frozen = null, lora = null, packed = false }: SamplingWeightOptions,
): SamplingWeights {
  const { hiddenSize, headDim, intermediateSize } = config;
  const constants = new Set<string>();
  const weight = (name: string, shape: readonly number[], type: DType = "float32"): Value =>
    inputOnce(graph, name, type, shape);
  const asStored = (name: string, shape: readonly number[]): Value =>
    weight(name, shape, frozen === null ? "float32" : storageOf(frozen));
  const times = (x: Value, name: string, columns: number): Value => {
    const inner = x.shape.at(-1)!;
    if (transposed && frozen === null)
      return matMul([x, weight(name + TRANSPOSED, [inner, columns])]);
    const stored = packed
      ? weight(name + PACKED, [columns, inner])
      : asStored(name, [columns, inner]);
    if (packed) constants.add(name + PACKED);
    return isStoredHalf(stored)
      ? frozenProduct(x, stored, WIDENED_BYTES)
      : gemm([x, stored], { transB: 1 });
  };
  /** A linear layer of rows [N, in], with its adapter. */
  const project = (x: Value, name: string, columns: number, bias?: string): Value => {
    const product = times(x, name, columns);
    const whole = bias === undefined ? product : add([product, weight(bias, [columns])]);
    return withAdapter(lora, name, { x, product: whole, at: weight });
  };
  const norm = (x: Value, name: string): Value =>
    rmsNorm(x, weight(name, [hiddenSize]), config.normEpsilon);
  return {
    constants,
    vector: (name, size) => weight(name, [size]),
    embed: (ids) => embedded(asStored(EMBEDDING, [config.vocabSize, config.hiddenSize]), ids),
    norm,
    attentionInputs(x, layer) {
      const names = layerNames(layer);
      const first = norm(x, names.inputNorm);
      const heads = (name: string, bias: string, count: number): Value =>
        project(first, name, count * headDim, config.qkvBias ? bias : undefined);
      return {
        q: heads(names.q, names.qBias, config.heads),
        k: heads(names.k, names.kBias, config.kvHeads),
        v: heads(names.v, names.vBias, config.kvHeads),
      };
    },
    withAttention: (x, mixed, layer) => add([x, project(mixed, layerNames(layer).o, hiddenSize)]),
    withFeedForward(x, layer) {
      const names = layerNames(layer);
      const second = norm(x, names.postNorm);
      const gate = project(second, names.gate, intermediateSize);
      const up = project(second, names.up, intermediateSize);
      return add([x, project(swiglu(gate, up), names.down, hiddenSize)]);
    },
    scores: (x) => times(x, config.tiedEmbeddings ? EMBEDDING : HEAD, config.vocabSize),
  };
}
