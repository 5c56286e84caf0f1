/** Operators that select elements by integer tensors. */
import { defineOp, type OpFunction, type Value } from "../graph.ts";
import { castTo, sub } from "./elementwise.ts";
import { expand, firstElement, reshape } from "./shape.ts";

/**
 * Zeros with one value's shape, computed at each run: the runtime folds constant zeros when it compiles, and would store a whole
 * embedding's size with every graph.
 * @param given any value of the run; if its first element is not finite, neither are the zeros.
 */
function zerosLike(like: Value, given: Value): Value {
  return expand(runtimeZero(given), like.shape);
}

/** 0 with shape [1], computed from a run's value, so that the runtime cannot fold it. Not finite if the value's first element is not. */
export function runtimeZero(given: Value): Value {
  const number = firstElement(given);
  return sub([number, number]);
}

/** Rows of a table: [V, …] and int indices [I…] give [I…, …]. The derivative adds the cotangent's rows into zeros. */
export const gather: OpFunction = defineOp({
  name: "Gather",
  infer: ([table, indices]) => [
    { dtype: table!.dtype, shape: [...indices!.shape, ...table!.shape.slice(1)] },
  ],
  vjp: ({ inputs: [table, indices], cotangents: [dy] }) => {
    const zeros = zerosLike(table!, dy!);
    // Reshape before the cast, because GPUs have no int64 shape kernels.
    const rows = castTo(reshape(indices!, [...indices!.shape, 1]), "int64");
    return [scatterNd([zeros, rows, dy!], { reduction: "add" }), null];
  },
  examples: [{ inputs: [{ shape: [4, 3] }, { shape: [5], ints: [0, 2, 2, 3, 0] }] }],
});

/** `data` plus `updates` at the rows `indices` [I…, 1] (int64); repeated rows accumulate. */
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

/** Elements along the last axis by index: x [.., N], int indices [.., K] give [.., K]. */
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

/** `data` plus `updates` at the indices along `axis`. */
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
