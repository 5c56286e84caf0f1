/**
 * Weights of 16 bits that are not trained: widened to float32 inside the graph right where they are used, each time anew. The runtime
 * would merge the widening in forward with that in backward and keep its result in between; so every use reads an input of
 * its own, all of which are given one tensor (`Graph.again`).
 */
import { withDerivative, type DType, type Value } from "./graph.ts";
import { bitCast, castTo } from "./ops/elementwise.ts";
import { gather } from "./ops/indexing.ts";
import { gemm } from "./ops/linear.ts";
import { concat, slice } from "./ops/shape.ts";
import { equalChunks } from "./ops/shape.ts";

/** ONNX's own number of the type. */
const BFLOAT16 = 16;

/** Number types of 16 bits that frozen weights are held in. */
export const halfTypes = ["float16", "bfloat16"] as const;
export type HalfType = (typeof halfTypes)[number];

/** The type of the tensors that hold them: no tensor of a host is bfloat16, so its bits are given. */
export function storageOf(type: HalfType): DType {
  return type === "float16" ? "float16" : "uint16";
}

/** Whether a value holds numbers of 16 bits as they are stored. */
export function isStoredHalf({ dtype }: Value): boolean {
  return dtype === "float16" || dtype === "uint16";
}

/** float32 of numbers of 16 bits as they are stored; exact. */
function widened(stored: Value): Value {
  return castTo(
    stored.dtype === "uint16" ? bitCast([stored], { to: BFLOAT16 }) : stored,
    "float32",
  );
}

/**
 * x · Wᵀ, and of the derivative dx = dy · W alone.
 * @param x float32 [N, in].
 * @param weight [out, in], a graph's input.
 * @param rows of the weight, from and to: [N, to − from] is then the result. All when absent.
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
 * As `frozenLinear`, the weight widened in pieces of at most so many bytes of float32.
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
