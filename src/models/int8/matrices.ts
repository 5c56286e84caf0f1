/**
 * The matrices of a decoder in 8 bits, for sampling. The residual stream is mixed: it is multiplied by `mixingMatrix` once, after the
 * embedding, and every matrix that reads or writes it is changed so that the network computes the same. Norms do not notice, because a
 * mixed vector has the same length; their scales become part of the matrices behind them.
 */
import { isStoredHalf, widened } from "../../autodiff/frozen.ts";
import { Graph, inputOnce, intVector, type DType, type Value } from "../../autodiff/graph.ts";
import { mul } from "../../autodiff/ops/elementwise.ts";
import { matMul, swapLast } from "../../autodiff/ops/linear.ts";
import { quantiseRows, type ByteType } from "../../autodiff/ops/quantised.ts";
import { reshapeTo } from "../../autodiff/ops/shape.ts";
import type { DecoderConfig } from "../config.ts";
import { loraSpecs, type LoraConfig } from "../lora/lora.ts";
import { EMBEDDING, FINAL_NORM, HEAD, layerNames, parameterSpecs } from "../parameters.ts";

/** A matrix [out, in] of a linear layer. */
interface Int8Matrix {
  name: string;
  shape: readonly [out: number, input: number];
  /** What it reads: the mixed residual stream behind the norm of this name; a vector whose blocks are mixed; or one as it is. */
  reads: { norm: string } | "blocks" | "plain";
  /** Whether it writes to the mixed residual stream. */
  writes: boolean;
}

/** Suffixes of a matrix's names: its bytes [in, out], and the scale of each of its columns [out]. */
export const BYTES = ".int8";
export const SCALE = ".scale";
/** Suffix of an adapter's matrix that reads or writes the mixed stream. */
export const MIXED = ".mixed";
/** Names of the mixing matrices: of the residual stream, and of the blocks before the last product of a layer. */
export const MIXING = "mixing";
export const BLOCK_MIXING = "mixing.block";

/** Every matrix that sampling multiplies by. */
export function int8Matrices(config: DecoderConfig): Int8Matrix[] {
  const shapes = new Map(parameterSpecs(config).map(({ name, shape }) => [name, shape]));
  const matrix = (name: string, reads: Int8Matrix["reads"], writes: boolean): Int8Matrix => {
    return { name, shape: shapes.get(name) as [number, number], reads, writes };
  };
  const layers = Array.from({ length: config.layers }, (_, layer) => {
    const names = layerNames(layer);
    const [first, second] = [{ norm: names.inputNorm }, { norm: names.postNorm }];
    return [
      ...[names.q, names.k, names.v].map((name) => matrix(name, first, false)),
      matrix(names.o, "plain", true),
      ...[names.gate, names.up].map((name) => matrix(name, second, false)),
      matrix(names.down, "blocks", true),
    ];
  });
  const head = config.tiedEmbeddings ? EMBEDDING : HEAD;
  return [...layers.flat(), matrix(head, { norm: FINAL_NORM }, false)];
}

/** Sizes of the mixing matrices, by name. */
export function mixingSizes({
  hiddenSize,
  intermediateSize,
}: DecoderConfig): Record<string, number> {
  return { [MIXING]: hiddenSize, [BLOCK_MIXING]: mixingBlock(intermediateSize) };
}

/** Names of `quantisingGraph`'s inputs beside the mixing matrices. */
export const QUANTISED = { weight: "weight", norm: "norm" } as const;

/**
 * Changes a matrix for the mixed stream and quantises it, each row (an output) by itself.
 * Inputs: the weight [out, in], its norm's scale [in] if it has one, the mixing matrices. Outputs: `bytes` [in, out], `scale` [out, 1].
 * @param held dtype of the weight as it is stored.
 */
export function quantisingGraph(
  config: DecoderConfig,
  { shape, reads, writes }: Int8Matrix,
  held: DType,
  type: ByteType,
): { graph: Graph; outputs: Record<string, Value> } {
  const graph = new Graph();
  const sizes = mixingSizes(config);
  const mixing = (name: string): Value =>
    inputOnce(graph, name, "float32", [sizes[name]!, sizes[name]!]);
  const given = graph.input(QUANTISED.weight, held, shape);
  let weight = isStoredHalf(given) ? widened(given) : given;
  if (typeof reads === "object") {
    weight = mul([weight, graph.input(QUANTISED.norm, "float32", [shape[1]])]);
    weight = matMul([weight, mixing(MIXING)]);
  }
  if (reads === "blocks") weight = mixedBlocks(weight, mixing(BLOCK_MIXING));
  if (writes) weight = matMul([mixing(MIXING), weight]);
  const { bytes, scale } = quantiseRows(weight, type);
  return { graph, outputs: { bytes: swapLast(bytes), scale } };
}

/** Mixes the coordinates of each block of a matrix's rows, whose number may be free. */
export function mixedBlocks(x: Value, mixing: Value): Value {
  const [rows, width] = x.shape as readonly [number, number];
  const size = mixing.shape[0]!;
  const to = (y: Value, last: number): Value =>
    reshapeTo(y, intVector(y.graph, [-1, last]), [(rows * width) / last, last]);
  return to(matMul([to(x, size), mixing]), width);
}

/**
 * Adapters for the mixed stream: A of a layer that reads it, B of one that writes it. Inputs: those, the norms' scales and the mixing
 * matrix; outputs: their names plus `MIXED`.
 */
export function mixedAdapterGraph(
  config: DecoderConfig,
  lora: LoraConfig,
): { graph: Graph; outputs: Record<string, Value> } {
  const graph = new Graph();
  const { hiddenSize } = config;
  const input = (name: string, shape: readonly number[]): Value =>
    inputOnce(graph, name, "float32", shape);
  const outputs: Record<string, Value> = {};
  const mixing = input(MIXING, [hiddenSize, hiddenSize]);
  const byLayer = new Map(int8Matrices(config).map((each) => [layerOf(each.name), each]));
  for (const { name, shape } of loraSpecs(config, lora)) {
    const matrix = byLayer.get(layerOf(name));
    if (matrix === undefined || !isMixed(matrix, name)) continue;
    const { reads } = matrix;
    const adapter = input(name, shape);
    outputs[name + MIXED] =
      isA(name) && typeof reads === "object"
        ? matMul([mul([adapter, input(reads.norm, [hiddenSize])]), mixing])
        : matMul([mixing, adapter]);
  }
  return { graph, outputs };
}

/** Whether an adapter's matrix reads (A) or writes (B) the mixed stream. @param adapter its name, of an adapter of this matrix. */
export function isMixed({ reads, writes }: Int8Matrix, adapter: string): boolean {
  return isA(adapter) ? typeof reads === "object" : writes;
}

function isA(adapter: string): boolean {
  return adapter.endsWith(".lora_A.weight");
}

function layerOf(name: string): string {
  return name.replace(/(\.lora_[AB])?\.weight$/, "");
}

/**
 * A matrix [size, size], row by row, that mixes all coordinates of a vector evenly: orthogonal, symmetric, and so its own inverse. A
 * Hadamard matrix for the powers of two in the size, times (Kronecker) a Hartley matrix of its odd rest, with random signs.
 *
 * A few coordinates of a language model's hidden states are much larger than the others. Mixed, all are of one size, and 8 bits hold
 * each of them about as exactly (QuaRot: Ashkboos et al., arXiv 2404.00456, where a Hadamard matrix of a table takes Hartley's place).
 */
export function mixingMatrix(size: number): Float32Array {
  let odd = size;
  while (odd % 2 === 0) odd /= 2;
  const hartley = Array.from({ length: odd }, (_, i) => {
    const angle = (2 * Math.PI * i) / odd;
    return (Math.cos(angle) + Math.sin(angle)) / Math.sqrt(size);
  });
  const numbers = new Float32Array(size * size);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const [a, b] = [Math.floor(row / odd), Math.floor(column / odd)];
      const flips = bitCount(a & b) + signBit(row) + signBit(column);
      const value = hartley[((row % odd) * (column % odd)) % odd]!;
      numbers[row * size + column] = flips % 2 === 0 ? value : -value;
    }
  }
  return numbers;
}

/** Largest power of two up to 64 that divides a size: the block whose coordinates are mixed where the mixing is a product of its own. */
export function mixingBlock(size: number): number {
  return [64, 32, 16, 8, 4, 2].find((block) => size % block === 0) ?? 1;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest > 0; rest >>>= 1) count += rest & 1;
  return count;
}

/** 0 or 1, evenly and without a pattern of the bits: from the product with an odd constant (Knuth's multiplicative hashing). */
function signBit(index: number): number {
  return Math.imul(index + 1, 0x9e3779b1) >>> 31;
}
