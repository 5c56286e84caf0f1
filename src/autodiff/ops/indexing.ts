/** Operators that pick elements by integer tensors. */
import { defineOp, type OpFunction, type Value } from "../graph.ts";
import { castTo, sub } from "./elementwise.ts";
import { expand, firstElement, reshape } from "./shape.ts";

/**
 * Zeros of one value's shape, made at each run: of a constant the runtime would make them when it compiles, and keep a whole embedding's
 * worth with every graph.
 * @param given any value of the run; where its first element is not finite, neither are these.
 */
function zerosLike(like: Value, given: Value): Value {
  return expand(runtimeZero(given), like.shape);
}

/** 0, [1], unless the value's first element is not finite: of a given value, so that the runtime does not know it when it compiles. */
export function runtimeZero(given: Value): Value {
  const number = firstElement(given);
  return sub([number, number]);
}

/** Rows of a table: [V, …] and int indices [I…] give [I…, …]. The cotangent is added row by row into zeros. */
export const gather: OpFunction = defineOp({
  name: "Gather",
  infer: ([table, indices]) => [
    { dtype: table!.dtype, shape: [...indices!.shape, ...table!.shape.slice(1)] },
  ],
  vjp: ({ inputs: [table, indices], cotangents: [dy] }) => {
    const zeros = zerosLike(table!, dy!);
    // Reshaped before they are cast: GPUs have no kernel for shapes of int64.
    const rows = castTo(reshape(indices!, [...indices!.shape, 1]), "int64");
    return [scatterNd([zeros, rows, dy!], { reduction: "add" }), null];
  },
  examples: [{ inputs: [{ shape: [4, 3] }, { shape: [5], ints: [0, 2, 2, 3, 0] }] }],
});

/** `data` with `updates` added at the rows that `indices` [I…, 1] (int64) names; equal rows add up. */
export const scatterNd: OpFunction = defineOp({
  name: "ScatterND",
  infer: ([data]) => [{ dtype: data!.dtype, shape: data!.shape }],
  vjp: ({ inputs: [, indices], cotangents: [dy] }) => [
    dy!,
    null,
    gather([dy!, reshape(indices!, indices!.shape.slice(0, -1))]),
  ],
  examples: [
    {
      inputs: [{ shape: [4, 2] }, { shape: [3, 1], ints: [1, 3, 1] }, { shape: [3, 2] }],
      attributes: { reduction: "add" },
    },
  ],
});

/** One element a row along the last axis: x [.., N], int indices [.., K] give [.., K]. */
export const gatherElements: OpFunction = defineOp({
  name: "GatherElements",
  infer: ([x, indices]) => [{ dtype: x!.dtype, shape: indices!.shape }],
  vjp: ({ inputs: [x, indices], cotangents: [dy], attributes }) => {
    const zeros = zerosLike(x!, dy!);
    return [scatterElements([zeros, indices!, dy!], { ...attributes, reduction: "add" }), null];
  },
  examples: [
    { inputs: [{ shape: [3, 4] }, { shape: [3, 1], ints: [0, 3, 1] }], attributes: { axis: 1 } },
  ],
});

/** `data` with `updates` added at the indices along `axis`. */
export const scatterElements: OpFunction = defineOp({
  name: "ScatterElements",
  infer: ([data]) => [{ dtype: data!.dtype, shape: data!.shape }],
  vjp: ({ inputs: [, indices], cotangents: [dy], attributes: { axis } }) => [
    dy!,
    null,
    gatherElements([dy!, indices!], { axis: axis! }),
  ],
  examples: [
    {
      inputs: [{ shape: [3, 4] }, { shape: [3, 2], ints: [0, 3, 1, 1, 2, 0] }, { shape: [3, 2] }],
      attributes: { axis: 1, reduction: "add" },
    },
  ],
});
