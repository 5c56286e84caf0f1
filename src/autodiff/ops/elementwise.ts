/** Element-wise operators with broadcasting. Their cotangents have the output's shape; `backward` sums broadcast axes. */
import {
  broadcastShape,
  defineOp,
  scalarLike,
  type OpExample,
  type OpFunction,
  type TensorType,
  type Value,
} from "../graph.ts";

const pair: readonly OpExample[] = [
  { inputs: [{ shape: [2, 3] }, { shape: [2, 3] }] },
  { inputs: [{ shape: [2, 3] }, { shape: [3] }] },
  { inputs: [{ shape: [2, 1] }, { shape: [1, 4] }] },
];
const positivePair: readonly OpExample[] = pair.map(({ inputs: [a, b] }) => ({
  inputs: [
    { low: 0.5, high: 2, ...a! },
    { low: 0.5, high: 2, ...b! },
  ],
}));
const single: readonly OpExample[] = [{ inputs: [{ shape: [2, 3] }] }];
const positiveSingle: readonly OpExample[] = [{ inputs: [{ shape: [2, 3], low: 0.3, high: 2 }] }];

/** a + b */
export const add = defineOp({
  name: "Add",
  infer: binary("Add"),
  vjp: ({ cotangents: [dy] }) => [dy!, dy!],
  examples: pair,
});

/** a − b */
export const sub = defineOp({
  name: "Sub",
  infer: binary("Sub"),
  vjp: ({ cotangents: [dy] }) => [dy!, neg([dy!])],
  examples: pair,
});

/** a · b */
export const mul = defineOp({
  name: "Mul",
  infer: binary("Mul"),
  vjp: ({ inputs: [a, b], cotangents: [dy] }) => [mul([dy!, b!]), mul([dy!, a!])],
  examples: pair,
});

/** a / b. d/db = −y/b */
export const div = defineOp({
  name: "Div",
  infer: binary("Div"),
  vjp: ({ inputs: [, b], outputs: [y], cotangents: [dy] }) => {
    const da = div([dy!, b!]);
    return [da, neg([mul([da, y!])])];
  },
  examples: positivePair,
});

/** Minimum; on a tie the whole cotangent goes to the first input. */
export const min = defineOp({
  name: "Min",
  infer: binary("Min"),
  vjp: ({ inputs: [a, b], cotangents: [dy] }) => choose(lessOrEqual([a!, b!]), dy!),
  examples: pair,
});

/** Maximum; on a tie the whole cotangent goes to the first input. */
export const max = defineOp({
  name: "Max",
  infer: binary("Max"),
  vjp: ({ inputs: [a, b], cotangents: [dy] }) => choose(greaterOrEqual([a!, b!]), dy!),
  examples: pair,
});

/** −x */
export const neg: OpFunction = defineOp({
  name: "Neg",
  infer: same,
  vjp: ({ cotangents: [dy] }) => [neg([dy!])],
  examples: single,
});

/** eˣ */
export const exp = defineOp({
  name: "Exp",
  infer: same,
  vjp: ({ outputs: [y], cotangents: [dy] }) => [mul([dy!, y!])],
  examples: single,
});

/** ln x */
export const log = defineOp({
  name: "Log",
  infer: same,
  vjp: ({ inputs: [x], cotangents: [dy] }) => [div([dy!, x!])],
  examples: positiveSingle,
});

/** √x */
export const sqrt = defineOp({
  name: "Sqrt",
  infer: same,
  vjp: ({ outputs: [y], cotangents: [dy] }) => [div([dy!, mul([y!, scalarLike(y!, 2)])])],
  examples: positiveSingle,
});

/** 1 / x */
export const reciprocal: OpFunction = defineOp({
  name: "Reciprocal",
  infer: same,
  vjp: ({ outputs: [y], cotangents: [dy] }) => [neg([mul([dy!, mul([y!, y!])])])],
  examples: positiveSingle,
});

/** |x|; derivative 0 at 0 */
export const abs = defineOp({
  name: "Abs",
  infer: same,
  vjp: ({ inputs: [x], cotangents: [dy] }) => [mul([dy!, sign([x!])])],
  examples: positiveSingle,
});

/** −1, 0 or 1; no derivative */
export const sign = defineOp({ name: "Sign", infer: same, vjp: () => [null], examples: [] });

/** σ(x) = 1 / (1 + e⁻ˣ). dx = dy · y · (1 − y) */
export const sigmoid = defineOp({
  name: "Sigmoid",
  infer: same,
  vjp: ({ outputs: [y], cotangents: [dy] }) => [mul([dy!, sub([y!, mul([y!, y!])])])],
  examples: single,
});

/** The identity without a gradient ("stop gradient", "detach"). */
export const stopGradient = defineOp({
  name: "Identity",
  infer: same,
  vjp: () => [null],
  examples: [],
});

/** condition ? a : b; the condition has no derivative */
export const where = defineOp({
  name: "Where",
  infer: ([condition, a, b]) => [
    {
      dtype: a!.dtype,
      shape: broadcastShape("Where", condition!.shape, broadcastShape("Where", a!.shape, b!.shape)),
    },
  ],
  vjp: ({ inputs: [condition], cotangents: [dy] }) => [null, ...choose(condition!, dy!)],
  examples: [
    {
      inputs: [
        { shape: [2, 3], bools: [true, false, true, false, false, true] },
        { shape: [2, 3] },
        { shape: [3] },
      ],
    },
  ],
});

export const less = comparison("Less");
export const lessOrEqual: OpFunction = comparison("LessOrEqual");
export const greater = comparison("Greater");
export const greaterOrEqual: OpFunction = comparison("GreaterOrEqual");

/** Logical and; no derivative */
export const and = defineOp({
  name: "And",
  infer: boolean("And"),
  vjp: () => [null, null],
  examples: [],
});

/** Converts to `to` (ONNX type numbers: 1 float32, 6 int32, 7 int64, 10 float16, 11 float64). The derivative converts back. */
export const cast: OpFunction = defineOp({
  name: "Cast",
  infer: ([x], { to }) => [{ dtype: castTypes[to as keyof typeof castTypes], shape: x!.shape }],
  vjp: ({ inputs: [x], cotangents: [dy] }) =>
    x!.dtype === "float32" || x!.dtype === "float64" ? [castTo(dy!, x!.dtype)] : [null],
  examples: [{ inputs: [{ shape: [2, 2] }], attributes: { to: 1 }, float32Only: true }],
});

const castTypes = { 1: "float32", 6: "int32", 7: "int64", 10: "float16", 11: "float64" } as const;
const castNumbers = { float32: 1, int32: 6, int64: 7, float16: 10, float64: 11 } as const;

/** `x` as another element type; `x` itself when it already has that type. */
export function castTo(x: Value, dtype: keyof typeof castNumbers): Value {
  return x.dtype === dtype ? x : cast([x], { to: castNumbers[dtype] });
}

/** Reinterprets the bits of a uint16 as bfloat16, because JavaScript has no bfloat16 arrays. No derivative. */
export const bitCast = defineOp({
  name: "BitCast",
  infer: ([x]) => [{ dtype: "bfloat16", shape: x!.shape }],
  vjp: () => [null],
  examples: [],
});

/** x limited to [low, high]; the gradient is 0 outside. */
export function clamp(x: Value, low: number, high: number): Value {
  return min([max([x, scalarLike(x, low)]), scalarLike(x, high)]);
}

function same([x]: readonly Value[]): TensorType[] {
  return [{ dtype: x!.dtype, shape: x!.shape }];
}

function binary(name: string): (inputs: readonly Value[]) => TensorType[] {
  return ([a, b]) => [{ dtype: a!.dtype, shape: broadcastShape(name, a!.shape, b!.shape) }];
}

function boolean(name: string): (inputs: readonly Value[]) => TensorType[] {
  return ([a, b]) => [{ dtype: "bool", shape: broadcastShape(name, a!.shape, b!.shape) }];
}

function comparison(name: string): OpFunction {
  return defineOp({ name, infer: boolean(name), vjp: () => [null, null], examples: [] });
}

function choose(condition: Value, dy: Value): [Value, Value] {
  const zero = scalarLike(dy, 0);
  return [where([condition, dy, zero]), where([condition, zero, dy])];
}
