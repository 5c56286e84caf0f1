import { InternalError, ShapeError } from "../base/errors.ts";

/**
 * Element types of graphs. float64 is for gradient checks; 16-bit types are for storage and are widened before use; 8-bit ones are factors of
 * integer products.
 */
export type DType =
  | "float32"
  | "float64"
  | "int32"
  | "int64"
  | "bool"
  | "float16"
  | "bfloat16"
  | "uint16"
  | "int8"
  | "uint8";

export interface TensorType {
  dtype: DType;
  /** Every axis has a length; that of a free axis is an example. */
  shape: readonly number[];
}

/**
 * Axes of an input whose lengths may differ from run to run, by number, with a name: in a run, axes of one name have one length. No
 * attribute of the graph may depend on them, nor a constant: use an input instead. (`compileFree` makes inputs of shapes.)
 */
export type FreeAxes = Readonly<Record<number, string>>;

/** An ONNX attribute. A number is an integer attribute; `{ float }` is a float attribute. */
export type Attribute = number | string | readonly number[] | { readonly float: number };
export type Attributes = Readonly<Record<string, Attribute>>;

/** A tensor in a graph. */
export interface Value extends TensorType {
  readonly graph: Graph;
  /** Unique in its graph; inputs keep their given name. */
  readonly name: string;
  /** null for graph inputs and constants. */
  readonly producer: Node | null;
}

/** One application of an operator. */
export interface Node {
  readonly op: Op;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly attributes: Attributes;
}

export interface VjpContext {
  inputs: readonly Value[];
  outputs: readonly Value[];
  attributes: Attributes;
  /** Of each output; null when the loss does not depend on it. */
  cotangents: readonly (Value | null)[];
  /** For each input, whether its cotangent is needed; others may be null. */
  needed: readonly boolean[];
}

/** One ONNX operator: shape rule, derivative and examples for the gradient check. */
export interface Op {
  /** Exactly the ONNX operator's name, so that emission needs no mapping. */
  readonly name: string;
  /** Operator set: "" is the ONNX standard. */
  readonly domain: "" | "com.microsoft";
  infer(inputs: readonly Value[], attributes: Attributes): readonly TensorType[];
  /** The cotangent of each input; null for none. */
  vjp(context: VjpContext): readonly (Value | null)[];
  /** Points of the numeric gradient check. Empty only for operators without derivative. */
  readonly examples: readonly OpExample[];
  /** Index of the first output that is optional when unread. */
  readonly optionalFrom?: number;
  /** Composites: the node is emitted with its first input only; the derivative needs the others. */
  readonly composite?: true;
  /** The backward pass computes such a node's derivative only after all gradients that it has met before (see `backward`). */
  readonly waits?: true;
}

/** Inputs of a gradient check: float inputs are drawn from [low, high], others are given. */
export interface OpExample {
  inputs: readonly (
    | { shape: readonly number[]; low?: number; high?: number; frozen?: boolean }
    | { shape: readonly number[]; ints: readonly number[] }
    | { shape: readonly number[]; bools: readonly boolean[] }
  )[];
  attributes?: Attributes;
  /** The operator's kernel exists only for float32. */
  float32Only?: boolean;
}

/** The input of a graph with this name, declared on first use. */
export function inputOnce(
  graph: Graph,
  name: string,
  dtype: DType,
  shape: readonly number[],
): Value {
  return graph.inputs.find((input) => input.name === name) ?? graph.input(name, dtype, shape);
}

/** Separates name and number of an input from `Graph.again`. */
const AGAIN = "#";

/** The input whose tensor is fed: the original of an input from `Graph.again`, else the input itself. */
export function givenAs(name: string): string {
  const [original = name] = name.split(AGAIN);
  return original;
}

/** A graph under construction: nodes in executable order. */
export class Graph {
  readonly nodes: Node[] = [];
  readonly inputs: Value[] = [];
  /** Constants and their elements. */
  readonly constants = new Map<Value, readonly number[]>();
  readonly freeAxes = new Map<Value, FreeAxes>();
  readonly #constantByKey = new Map<string, Value>();
  readonly #names = new Set<string>();
  readonly #again = new Map<Value, number>();
  #counter = 0;

  /** A tensor that each run feeds. @throws {InternalError} GRAPH_NAME_TWICE */
  input(name: string, dtype: DType, shape: readonly number[], free?: FreeAxes): Value {
    if (this.#names.has(name)) {
      throw new InternalError("GRAPH_NAME_TWICE", `graph input "${name}" already exists.`);
    }
    this.#names.add(name);
    const value: Value = { graph: this, name, dtype, shape, producer: null };
    this.inputs.push(value);
    if (free !== undefined) this.freeAxes.set(value, free);
    return value;
  }

  /**
   * A second input that is fed the same tensor. The runtime computes equal expressions of one input once and keeps the result until its
   * last reader; an expression of a second input is recomputed.
   */
  again(input: Value): Value {
    const count = (this.#again.get(input) ?? 0) + 1;
    this.#again.set(input, count);
    const name = `${input.name}${AGAIN}${count}`;
    return this.input(name, input.dtype, input.shape, this.freeAxes.get(input));
  }

  /** A constant tensor; equal constants are shared. */
  constant(dtype: DType, shape: readonly number[], data: readonly number[]): Value {
    const key = `${dtype}|${shape.join()}|${data.join()}`;
    const known = this.#constantByKey.get(key);
    if (known !== undefined) return known;
    const value: Value = { graph: this, name: this.#fresh("const"), dtype, shape, producer: null };
    this.constants.set(value, data);
    this.#constantByKey.set(key, value);
    return value;
  }

  /** Applies an operator. @throws {ShapeError} from its shape rule. */
  apply(op: Op, inputs: readonly Value[], attributes: Attributes = {}): readonly Value[] {
    for (const input of inputs) {
      if (input.graph !== this) {
        throw new InternalError(
          "GRAPH_MIXED",
          `${op.name}: input "${input.name}" belongs to another graph.`,
        );
      }
    }
    const outputs: Value[] = [];
    const node: Node = { op, inputs, outputs, attributes };
    for (const type of op.infer(inputs, attributes)) {
      outputs.push({ graph: this, name: this.#fresh(op.name), producer: node, ...type });
    }
    this.nodes.push(node);
    return outputs;
  }

  #fresh(prefix: string): string {
    this.#counter += 1;
    return `${prefix}_${this.#counter}`;
  }
}

/** An operator that can be called with its inputs. */
export type OpFunction = Op & ((inputs: readonly Value[], attributes?: Attributes) => Value);

/** Makes an operator callable: `op([a, b], attributes)` returns its first output. */
export function defineOp(definition: Omit<Op, "domain"> & { domain?: Op["domain"] }): OpFunction {
  const { name, ...rest } = definition;
  const op: Op = { domain: "", ...rest, name };
  const call = (inputs: readonly Value[], attributes: Attributes = {}): Value => {
    const [first] = inputs;
    const output = first?.graph.apply(op, inputs, attributes)[0];
    if (output === undefined)
      throw new InternalError("GRAPH_MIXED", `${name}: needs an input and an output.`);
    return output;
  };
  Object.defineProperty(call, "name", { value: name, enumerable: true });
  return Object.assign(call, { domain: "" as const, ...rest });
}

/** Several operators with one derivative, where the chain rule would be slower or less exact. */
export interface Composite {
  (...inputs: Value[]): Value;
  readonly examples: readonly OpExample[];
}

/**
 * Makes a composite: `forward` uses ordinary operators; `backward` uses `vjp` instead of their derivatives.
 * @param definition.vjp receives the inputs, the kept values of `forward` and the cotangent; one result per input.
 */
export function defineComposite<K>(definition: {
  name: string;
  forward(inputs: readonly Value[]): { result: Value; kept: K };
  vjp(inputs: readonly Value[], kept: K, cotangent: Value): readonly (Value | null)[];
  examples: readonly OpExample[];
}): Composite {
  const call = (...inputs: Value[]): Value => {
    const { result, kept } = definition.forward(inputs);
    return withDerivative(definition.name, result, inputs, {
      vjp: ({ cotangents: [dy] }) => (dy ? definition.vjp(inputs, kept, dy) : []),
    });
  };
  Object.defineProperty(call, "name", { value: definition.name });
  return Object.assign(call, { examples: definition.examples });
}

/**
 * Returns a value unchanged with a custom derivative: `backward` does not differentiate its construction.
 * @param rule.vjp one cotangent per entry of `inputs`; its context is the new node's, whose first input is `result`.
 */
export function withDerivative(
  name: string,
  result: Value,
  inputs: readonly Value[],
  rule: Pick<Op, "vjp" | "waits">,
): Value {
  const op: Op = {
    ...rule,
    name: "Identity",
    domain: "",
    composite: true,
    examples: [],
    infer: () => [{ dtype: result.dtype, shape: result.shape }],
    vjp: (context) => [null, ...rule.vjp(context)],
  };
  const [output] = result.graph.apply(op, [result, ...inputs]);
  if (output === undefined) throw new InternalError("GRAPH_MIXED", `${name}: no output.`);
  return output;
}

/** Number of elements in a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, axis) => product * axis, 1);
}

/** A scalar with the type of another value. */
export function scalarLike(like: Value, number: number): Value {
  return like.graph.constant(like.dtype, [], [number]);
}

/** An int64 vector constant, for operator inputs such as shapes, axes and starts. */
export function intVector(graph: Graph, numbers: readonly number[]): Value {
  return graph.constant("int64", [numbers.length], numbers);
}

/** The shape that two shapes broadcast to. @throws {ShapeError} SHAPE_BROADCAST */
export function broadcastShape(
  where: string,
  a: readonly number[],
  b: readonly number[],
): number[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const left = a[a.length - rank + i] ?? 1;
    const right = b[b.length - rank + i] ?? 1;
    if (left !== right && left !== 1 && right !== 1) {
      throw new ShapeError(
        "SHAPE_BROADCAST",
        `${where}: [${a.join(", ")}] and [${b.join(", ")}] do not broadcast (axis ${i}: ${left} ≠ ${right}). Reshape one of them.`,
      );
    }
    return left === 1 ? right : left;
  });
}
