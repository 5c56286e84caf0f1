/** Operators that move elements without changing them. */
import { InternalError, ShapeError } from "../../base/errors.ts";
import {
  defineOp,
  intVector,
  scalarLike,
  sizeOf,
  type Op,
  type OpFunction,
  type Value,
} from "../graph.ts";

export const reshapeOp: OpFunction = defineOp({
  name: "Reshape",
  infer: ([x, shape]) => [{ dtype: x!.dtype, shape: constantData(shape!) }],
  vjp: ({ inputs: [x], cotangents: [dy] }) => [reshape(dy!, x!.shape), null],
  examples: [{ inputs: [{ shape: [2, 6] }, { shape: [2], ints: [3, 4] }] }],
});

/** The same elements in another shape. @throws {ShapeError} SHAPE_RESHAPE when the sizes differ. */
export function reshape(x: Value, shape: readonly number[]): Value {
  if (sizeOf(shape) !== sizeOf(x.shape)) {
    throw new ShapeError(
      "SHAPE_RESHAPE",
      `Reshape "${x.name}": [${x.shape.join(", ")}] has ${sizeOf(x.shape)} elements, but [${shape.join(", ")}] has ${sizeOf(shape)}. Pass a shape of equal size.`,
    );
  }
  return reshapeOp([x, intVector(x.graph, shape)]);
}

/**
 * The same elements in a shape that the run computes: an int64 vector. No derivative.
 * @param example the shape, with an example's length for each free axis.
 */
export function reshapeTo(x: Value, shape: Value, example: readonly number[]): Value {
  const op: Op = {
    name: "Reshape",
    domain: "",
    examples: [],
    vjp: () => [null, null],
    infer: () => [{ dtype: x.dtype, shape: example }],
  };
  return x.graph.apply(op, [x, shape])[0]!;
}

export const transposeOp: OpFunction = defineOp({
  name: "Transpose",
  infer: ([x], { perm }) => [
    { dtype: x!.dtype, shape: (perm as readonly number[]).map((axis) => x!.shape[axis]!) },
  ],
  vjp: ({ attributes: { perm }, cotangents: [dy] }) => {
    const inverse: number[] = [];
    (perm as readonly number[]).forEach((axis, i) => (inverse[axis] = i));
    return [transpose(dy!, inverse)];
  },
  examples: [{ inputs: [{ shape: [2, 3, 4] }], attributes: { perm: [2, 0, 1] } }],
});

/** Permutes axes: output axis i is input axis perm[i]. */
export function transpose(x: Value, perm: readonly number[]): Value {
  return transposeOp([x], { perm });
}

export const expandOp: OpFunction = defineOp({
  name: "Expand",
  infer: ([x, shape]) => [{ dtype: x!.dtype, shape: constantData(shape!) }],
  vjp: ({ cotangents: [dy] }) => [dy!, null],
  examples: [{ inputs: [{ shape: [2, 1] }, { shape: [3], ints: [4, 2, 3] }] }],
});

/** Broadcasts to a shape; `backward` sums the broadcast axes. */
export function expand(x: Value, shape: readonly number[]): Value {
  return expandOp([x, intVector(x.graph, shape)]);
}

/** Concatenates along `axis`. The derivative splits the cotangent. */
export const concat: OpFunction = defineOp({
  name: "Concat",
  infer: (inputs, { axis }) => {
    const [first] = inputs;
    const total = inputs.reduce((sum, input) => sum + input.shape[axis as number]!, 0);
    return [{ dtype: first!.dtype, shape: first!.shape.map((n, i) => (i === axis ? total : n)) }];
  },
  vjp: ({ inputs, attributes: { axis }, cotangents: [dy] }) => {
    let at = 0;
    return inputs.map((input) => {
      const start = at;
      at += input.shape[axis as number]!;
      return slice(dy!, axis as number, start, at);
    });
  },
  examples: [{ inputs: [{ shape: [2, 2] }, { shape: [2, 3] }], attributes: { axis: 1 } }],
});

export const sliceOp: OpFunction = defineOp({
  name: "Slice",
  infer: ([x, starts, ends, axes]) => {
    const [start, end, axis] = [starts!, ends!, axes!].map((value) => constantData(value)[0]!);
    const lengths = x!.shape.map((n, i) => (i === axis ? Math.min(end!, n) - start! : n));
    return [{ dtype: x!.dtype, shape: lengths }];
  },
  // The derivative pads the cotangent with zeros.
  vjp: ({ inputs: [x, starts, ends, axes], cotangents: [dy] }) => {
    const [start, end, axis] = [starts!, ends!, axes!].map((value) => constantData(value)[0]!);
    const zeros = (length: number): Value[] =>
      length === 0
        ? []
        : [
            expand(
              scalarLike(dy!, 0),
              x!.shape.map((n, i) => (i === axis ? length : n)),
            ),
          ];
    const pieces = [...zeros(start!), dy!, ...zeros(Math.max(0, x!.shape[axis!]! - end!))];
    return [pieces.length === 1 ? dy! : concat(pieces, { axis: axis! }), null, null, null];
  },
  examples: [
    {
      inputs: [
        { shape: [2, 5] },
        { shape: [1], ints: [1] },
        { shape: [1], ints: [4] },
        { shape: [1], ints: [1] },
      ],
    },
  ],
});

/** The largest int32: an end beyond any axis, also of kernels that calculate with int32. */
const LAST = 2 ** 31 - 1;

/** Elements [start, end) of one axis; without an end, the rest, also of a free axis. */
export function slice(x: Value, axis: number, start: number, end = LAST): Value {
  const vector = (n: number): Value => intVector(x.graph, [n]);
  return sliceOp([x, vector(start), vector(end), vector(axis)]);
}

/** Splits along `axis` into pieces with the lengths of its second input. The derivative concatenates; a missing cotangent is zeros. */
export const splitOp: Op = {
  name: "Split",
  domain: "",
  infer: ([x, lengths], { axis }) =>
    constantData(lengths!).map((length) => ({
      dtype: x!.dtype,
      shape: x!.shape.map((n, i) => (i === axis ? length : n)),
    })),
  vjp: ({ outputs, attributes: { axis }, cotangents }) => {
    const pieces = cotangents.map(
      (dy, i) => dy ?? expand(scalarLike(outputs[i]!, 0), outputs[i]!.shape),
    );
    return [concat(pieces, { axis: axis! }), null];
  },
  examples: [
    { inputs: [{ shape: [2, 5] }, { shape: [2], ints: [2, 3] }], attributes: { axis: 1 } },
  ],
};

/** Splits one axis into pieces of the given lengths, whose sum must be its length. */
export function split(x: Value, axis: number, lengths: readonly number[]): readonly Value[] {
  return x.graph.apply(splitOp, [x, intVector(x.graph, lengths)], { axis });
}

/**
 * Splits one axis into pieces whose lengths the run gives: an int64 vector. No derivative.
 * @param example a length of each piece.
 */
export function splitTo(
  x: Value,
  axis: number,
  lengths: Value,
  example: readonly number[],
): readonly Value[] {
  const op: Op = {
    name: "Split",
    domain: "",
    examples: [],
    vjp: () => [null, null],
    infer: () =>
      example.map((length) => ({
        dtype: x.dtype,
        shape: x.shape.map((n, i) => (i === axis ? length : n)),
      })),
  };
  return x.graph.apply(op, [x, lengths], { axis });
}

/** The first element of a value: [1]. */
export function firstElement(value: Value): Value {
  const corner = value.shape.reduce(
    (rest, length, axis) => (length === 1 ? rest : slice(rest, axis, 0, 1)),
    value,
  );
  return corner.shape.length === 1 ? corner : reshape(corner, [1]);
}

/** The elements of a constant. Shape arguments must be known when the graph is built. @throws {InternalError} GRAPH_NOT_CONSTANT */
export function constantData(value: Value): readonly number[] {
  const data = value.graph.constants.get(value);
  if (data === undefined) {
    throw new InternalError(
      "GRAPH_NOT_CONSTANT",
      `"${value.name}" must be a constant of its graph.`,
    );
  }
  return data;
}

/**
 * Splits 0 … count into chunks of at most `most`. The chunks are equal, because the runtime keeps memory per shape,
 * unless equal chunks would be more than twice as many.
 * @example equalChunks(6, 4) // [[0, 3], [3, 6]]
 */
export function equalChunks(count: number, most: number): (readonly [from: number, to: number])[] {
  const fewest = Math.ceil(count / most);
  const equal = Array.from({ length: fewest + 1 }, (_, i) => fewest + i).find(
    (pieces) => count % pieces === 0,
  );
  const length = equal === undefined ? most : count / equal;
  return Array.from({ length: Math.ceil(count / length) }, (_, i) => [
    i * length,
    Math.min(count, (i + 1) * length),
  ]);
}
