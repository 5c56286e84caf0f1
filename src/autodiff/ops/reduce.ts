/** Reductions over axes. Reduced axes stay with length 1, so that results broadcast back. */
import {
  defineOp,
  intVector,
  scalarLike,
  type OpFunction,
  type TensorType,
  type Value,
} from "../graph.ts";
import { constantData, expand } from "./shape.ts";
import { mul } from "./elementwise.ts";

export const reduceSumOp: OpFunction = defineOp({
  name: "ReduceSum",
  infer: folded,
  vjp: ({ inputs: [x], cotangents: [dy] }) => [expand(dy!, x!.shape), null],
  examples: [{ inputs: [{ shape: [2, 3, 4] }, { shape: [1], ints: [1] }] }],
});

export const reduceMeanOp: OpFunction = defineOp({
  name: "ReduceMean",
  infer: folded,
  vjp: ({ inputs: [x, axes], cotangents: [dy] }) => {
    const count = constantData(axes!).reduce((n, axis) => n * x!.shape[axis]!, 1);
    return [expand(mul([dy!, scalarLike(dy!, 1 / count)]), x!.shape), null];
  },
  examples: [{ inputs: [{ shape: [2, 3, 4] }, { shape: [2], ints: [0, 2] }] }],
});

/** No derivative: used only for selection. */
export const reduceMaxOp: OpFunction = defineOp({
  name: "ReduceMax",
  infer: folded,
  vjp: () => [null, null],
  examples: [],
});

/** Σ over axes. */
export const reduceSum = reducer(reduceSumOp);
/** Mean over axes. */
export const reduceMean = reducer(reduceMeanOp);
/** Maximum over axes. */
export const reduceMax = reducer(reduceMaxOp);

function reducer(op: OpFunction): (x: Value, axes: readonly number[]) => Value {
  return (x, axes) => op([x, intVector(x.graph, axes)], { keepdims: 1 });
}

function folded([x, axes]: readonly Value[]): TensorType[] {
  const dropped = constantData(axes!);
  return [{ dtype: x!.dtype, shape: x!.shape.map((n, i) => (dropped.includes(i) ? 1 : n)) }];
}
