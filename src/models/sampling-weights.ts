import { frozenProduct, isStoredHalf, storageOf } from "../autodiff/frozen.ts";
import { type DType, type Graph, type Value } from "../autodiff/graph.ts";
import { add } from "../autodiff/ops/elementwise.ts";
import { gemm, matMul } from "../autodiff/ops/linear.ts";
import type { DecoderConfig } from "./config.ts";
import { embedded, TRANSPOSED, type Layout } from "./decoder.ts";
import { withAdapter, type LoraConfig } from "./lora/lora.ts";
import { EMBEDDING, HEAD } from "./parameters.ts";

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

/** A linear layer: the name of its matrix, its output size and the name of its bias, if any. */
export interface Projection {
  name: string;
  columns: number;
  bias?: string | undefined;
}

/** The weights of a decoder as inputs of a sampling graph. */
export interface SamplingWeights {
  vector(name: string, size: number): Value;
  /** Rows of the embedding: int32 [N] give [N, D]. */
  embed(ids: Value): Value;
  /** A linear layer of rows [N, in], with its adapter. */
  project(x: Value, layer: Projection): Value;
  /** Scores over the vocabulary [N, V]. */
  scores(x: Value): Value;
  /** The matrices that are to be constants. */
  readonly packed: ReadonlySet<string>;
}

/** Declares weights on first use. */
export function samplingWeights(
  graph: Graph,
  config: DecoderConfig,
  { transposed = true, frozen = null, lora = null, packed = false }: SamplingWeightOptions,
): SamplingWeights {
  const constants = new Set<string>();
  const weight = (name: string, shape: readonly number[], type: DType = "float32"): Value =>
    graph.inputs.find((input) => input.name === name) ?? graph.input(name, type, shape);
  const asStored = (name: string, shape: readonly number[]): Value =>
    weight(name, shape, frozen === null ? "float32" : storageOf(frozen));
  const times = (x: Value, name: string, columns: number): Value => {
    const inner = x.shape.at(-1)!;
    if (transposed && frozen === null)
      return matMul([x, weight(name + TRANSPOSED, [inner, columns])]);
    const stored = packed
      ? weight(name + PACKED, [columns, inner])
      : asStored(name, [columns, inner]);
    if (packed) constants.add(name);
    return isStoredHalf(stored)
      ? frozenProduct(x, stored, WIDENED_BYTES)
      : gemm([x, stored], { transB: 1 });
  };
  return {
    packed: constants,
    vector: (name, size) => weight(name, [size]),
    embed: (ids) => embedded(asStored(EMBEDDING, [config.vocabSize, config.hiddenSize]), ids),
    project(x, { name, columns, bias }) {
      const product = times(x, name, columns);
      const whole = bias === undefined ? product : add([product, weight(bias, [columns])]);
      return withAdapter(lora, name, { x, product: whole, at: weight });
    },
    scores: (x) => times(x, config.tiedEmbeddings ? EMBEDDING : HEAD, config.vocabSize),
  };
}
