/** Products of 8-bit integers, for graphs without a derivative. */
import { defineOp, scalarLike, type Graph, type OpFunction, type Value } from "../graph.ts";
import { abs, div, max, mul } from "./elementwise.ts";
import { reduceMax } from "./reduce.ts";

/** Type of an 8-bit matrix. A zero of uint8 is stored as 128. */
export type ByteType = "int8" | "uint8";

/** round(x / scale) + zero, limited to the range of the zero point's type; halves are rounded to even. Inputs: x, scale [], zero []. */
const quantizeLinear: OpFunction = defineOp({
  name: "QuantizeLinear",
  infer: ([x, , zero]) => [{ dtype: zero!.dtype, shape: x!.shape }],
  vjp: () => [null, null, null],
  examples: [],
});

/**
 * scaleA · scaleB · (A − zeroA) · (B − zeroB), summed in integers. Inputs: A uint8 [M, K], B [K, N], scaleA [], scaleB [N], zeroA [], zeroB [].
 */
const matMulIntegerToFloat: OpFunction = defineOp({
  name: "MatMulIntegerToFloat",
  domain: "com.microsoft",
  infer: ([a, b]) => [{ dtype: "float32", shape: [a!.shape[0]!, b!.shape[1]!] }],
  vjp: () => [],
  examples: [],
});

/** The largest magnitude that a row of zeros is taken to have, so that nothing is divided by zero. */
const LEAST = 1e-30;

function zeroOf(graph: Graph, type: ByteType): Value {
  return graph.constant(type, [], [type === "int8" ? 0 : 128]);
}

/** 8-bit numbers of a matrix, symmetric around its rows' zero: x ≈ scale · (bytes − zero). */
export interface QuantisedRows {
  /** [N, K] */
  bytes: Value;
  /** float32 [N, 1]: the largest magnitude of each row over 127. */
  scale: Value;
}

/** Quantises each row of a float32 matrix [N, K] by itself, so that no row's result depends on the others. */
export function quantiseRows(x: Value, type: ByteType = "uint8"): QuantisedRows {
  const largest = max([reduceMax(abs([x]), [1]), scalarLike(x, LEAST)]);
  const scale = mul([largest, scalarLike(x, 1 / 127)]);
  const one = x.graph.constant("float32", [], [1]);
  return { bytes: quantizeLinear([div([x, scale]), one, zeroOf(x.graph, type)]), scale };
}

/** The product of quantised rows (uint8 [N, K]) and a quantised matrix [K, M] with one scale for each column: float32 [N, M]. */
export function int8Product(rows: QuantisedRows, bytes: Value, scale: Value): Value {
  const { graph } = bytes;
  const one = graph.constant("float32", [], [1]);
  const zeros = [zeroOf(graph, "uint8"), zeroOf(graph, bytes.dtype as ByteType)];
  return mul([matMulIntegerToFloat([rows.bytes, bytes, one, scale, ...zeros]), rows.scale]);
}
