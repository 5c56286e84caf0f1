/**
 * Frozen 16-bit weights: widened to float32 inside the graph at each use. The runtime would merge the widening of forward and
 * backward and keep its result in between, so every use reads an input of its own, all fed with the same tensor
 * (`Graph.again`).
 */
import { withDerivative, type DType, type Value } from "./graph.ts";
import { bitCast, castTo } from "./ops/elementwise.ts";
import { gather } from "./ops/indexing.ts";
import { gemm } from "./ops/linear.ts";
import { concat, slice } from "./ops/shape.ts";
import { equalChunks } from "./ops/shape.ts";

/** ONNX's number of bfloat16. */
const BFLOAT16 = 16;

/** 16-bit dtypes of frozen weights. */
export const halfTypes = ["float16", "bfloat16"] as const;
export type HalfType = (typeof halfTypes)[number];

/** The storage type: JavaScript has no bfloat16 arrays, so its bits are stored as uint16. */
export function storageOf(type: HalfType): DType {
  return type === "float16" ? "float16" : "uint16";
}

/** Whether a value stores 16-bit numbers. */
export function isStoredHalf({ dtype }: Value): boolean {
  return dtype === "float16" || dtype === "uint16";
}

/** Widens stored 16-bit numbers to float32, exactly. */
export function widened(stored: Value): Value {
  return castTo(
    stored.dtype === "uint16" ? bitCast([stored], { to: BFLOAT16 }) : stored,
    "float32",
  );
}

/**
 * x · Wᵀ for a frozen weight; its only derivative is dx = dy · W.
 * @param x float32 [N, in].
 * @param weight [out, in], an input of the graph.
 * @param rows range of the weight's rows, for a result of [N, to − from]; default all.
 */
export function frozenLinear(
  x: Value,
  weight: Value,
  rows?: readonly [from: number, to: number],
): Value {
  const matrix = (): Value => {
    const stored = weight.graph.again(weight);
    return widened(rows === undefined ? stored : slice(stored, 0, ...rows));
  };
  const product = gemm([x, matrix()], { transB: 1 });
  return withDerivative("frozenLinear", product, [x], {
    vjp: ({ cotangents: [dy] }) => [dy ? gemm([dy, matrix()]) : null],
  });
}

/**
 * `frozenLinear`, widening the weight in pieces of at most this many bytes of float32.
 */
export function frozenProduct(x: Value, weight: Value, bytes: number): Value {
  const [out, inner] = weight.shape as readonly [number, number];
  const pieces = equalChunks(out, Math.max(1, Math.floor(bytes / (4 * inner))));
  if (pieces.length === 1) return frozenLinear(x, weight);
  return concat(
    pieces.map((rows) => frozenLinear(x, weight, rows)),
    { axis: 1 },
  );
}

/** Rows of a frozen table: [V, D] and int32 [N] give float32 [N, D]. */
export function frozenRows(table: Value, indices: Value): Value {
  return widened(gather([table.graph.again(table), indices]));
}
