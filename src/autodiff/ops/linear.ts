/** Matrix products. */
import { definedValues } from "../../base/defined-values.ts";
import { ShapeError } from "../../base/errors.ts";
import { broadcastShape, defineOp, type OpFunction, type Value } from "../graph.ts";
import { reshape, transpose } from "./shape.ts";

/** Y = A · B over the last two axes, leading axes broadcast. */
export const matMul: OpFunction = defineOp({
  name: "MatMul",
  infer: ([a, b]) => {
    const [m, inner] = a!.shape.slice(-2);
    const [innerB, n] = b!.shape.slice(-2);
    if (inner === undefined || n === undefined || inner !== innerB) {
      throw new ShapeError(
        "SHAPE_MATMUL",
        `MatMul: left "${a!.name}" [${a!.shape.join(", ")}] and right "${b!.name}" [${b!.shape.join(", ")}] disagree on the inner axis (${inner} ≠ ${innerB}). If a weight is stored [out, in], transpose it first.`,
      );
    }
    const batch = broadcastShape("MatMul", a!.shape.slice(0, -2), b!.shape.slice(0, -2));
    return [{ dtype: a!.dtype, shape: [...batch, m!, n] }];
  },
  // dA = dY · Bᵀ and dB = Aᵀ · dY; for a matrix B shared by all leading axes, one product over the flattened rows.
  vjp: ({ inputs: [a, b], cotangents: [dy] }) => {
    const da = matMul([dy!, swapLast(b!)]);
    if (b!.shape.length === 2 && a!.shape.length > 2) {
      return [da, matMul([swapLast(rows(a!)), rows(dy!)])];
    }
    return [da, matMul([swapLast(a!), dy!])];
  },
  examples: [
    { inputs: [{ shape: [2, 3] }, { shape: [3, 4] }] },
    { inputs: [{ shape: [5, 2, 3] }, { shape: [3, 4] }] },
    { inputs: [{ shape: [2, 2, 3] }, { shape: [2, 3, 4] }] },
  ],
});

/**
 * Y = A · B of matrices; `transA`, `transB` 1 reads an input transposed without a copy.
 * With A′ and B′ the matrices as multiplied: dA′ = dY · B′ᵀ and dB′ = A′ᵀ · dY.
 */
export const gemm: OpFunction = defineOp({
  name: "Gemm",
  infer: ([a, b], { transA = 0, transB = 0 }) => {
    const [m, inner] = transA === 1 ? a!.shape.toReversed() : a!.shape;
    const [innerB, n] = transB === 1 ? b!.shape.toReversed() : b!.shape;
    if (a!.shape.length !== 2 || b!.shape.length !== 2 || inner !== innerB) {
      throw new ShapeError(
        "SHAPE_MATMUL",
        `Gemm: left "${a!.name}" [${a!.shape.join(", ")}] and right "${b!.name}" [${b!.shape.join(", ")}] disagree on the inner axis (${inner} ≠ ${innerB}), with transA ${transA as number} and transB ${transB as number}. Pass matrices with matching inner axes.`,
      );
    }
    return [{ dtype: a!.dtype, shape: [m!, n!] }];
  },
  vjp: ({ inputs: [a, b], attributes: { transA, transB }, cotangents: [dy] }) => {
    const [ta, tb] = [transA === 1, transB === 1];
    // The cotangent of a transposed input is computed transposed: dA = (dY · B′ᵀ)ᵀ = B′ · dYᵀ.
    const da = ta ? product(b!, dy!, tb, true) : product(dy!, b!, false, !tb);
    const db = tb ? product(dy!, a!, true, ta) : product(a!, dy!, !ta, false);
    return [da, db];
  },
  examples: [
    { inputs: [{ shape: [2, 3] }, { shape: [3, 4] }] },
    { inputs: [{ shape: [2, 3] }, { shape: [4, 3] }], attributes: { transB: 1 } },
    { inputs: [{ shape: [3, 2] }, { shape: [3, 4] }], attributes: { transA: 1 } },
    { inputs: [{ shape: [3, 2] }, { shape: [4, 3] }], attributes: { transA: 1, transB: 1 } },
  ],
});

/**
 * Y = alpha · A · B over the last two axes of values with equal leading axes; `transB` 1 reads B transposed without a copy. For graphs
 * without a derivative.
 */
export const fusedMatMul: OpFunction = defineOp({
  name: "FusedMatMul",
  domain: "com.microsoft",
  infer: ([a, b], { transB = 0 }) => [
    { dtype: a!.dtype, shape: [...a!.shape.slice(0, -1), b!.shape.at(transB === 1 ? -2 : -1)!] },
  ],
  vjp: () => [null, null],
  examples: [],
});

/** A · B with optional transposes. */
function product(a: Value, b: Value, transA: boolean, transB: boolean): Value {
  return gemm(
    [a, b],
    definedValues({ transA: transA ? 1 : undefined, transB: transB ? 1 : undefined }),
  );
}

/** Swaps the last two axes. */
export function swapLast(x: Value): Value {
  const rank = x.shape.length;
  const perm = Array.from({ length: rank }, (_, i) => i);
  [perm[rank - 2], perm[rank - 1]] = [rank - 1, rank - 2];
  return transpose(x, perm);
}

function rows(x: Value): Value {
  const width = x.shape.at(-1)!;
  return reshape(x, [x.shape.slice(0, -1).reduce((n, axis) => n * axis, 1), width]);
}
