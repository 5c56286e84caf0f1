import { InternalError, ShapeError } from "../base/errors.ts";

/** Element types that graphs use. float64 exists for gradient checks; types of 16 bits are stored, and widened to be computed with. */
export type DType =
  "float32" | "float64" | "int32" | "int64" | "bool" | "float16" | "bfloat16" | "uint16";

export interface TensorType {
  dtype: DType;
  /** Every axis is a known number: graphs are built per batch shape. */
  shape: readonly number[];
}

/** An ONNX attribute. A plain number is an integer attribute; `{ float }` is a float. */
export type Attribute = number | string | readonly number[] | { readonly float: number };
export type Attributes = Readonly<Record<string, Attribute>>;

/** A tensor that will exist when the graph runs. */
export interface Value extends TensorType {
  readonly graph: Graph;
  /** Unique in its graph; inputs keep the name that they were given. */
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
  /** Of each output; null where nothing downstream depends on it. */
  cotangents: readonly (Value | null)[];
  /** Of each input: whether its cotangent is asked for. One that is not need not be given. */
  needed: readonly boolean[];
}

/** Shape rule, derivative and checked examples of one ONNX operator, in one entry. */
export interface Op {
  /** Exactly the ONNX operator's name, so that emission needs no table. */
  readonly name: string;
  /** Operator set: "" is ONNX's own. */
  readonly domain: "" | "com.microsoft";
  infer(inputs: readonly Value[], attributes: Attributes): readonly TensorType[];
  /** Cotangents of the inputs, one each; null where none flows. */
  vjp(context: VjpContext): readonly (Value | null)[];
  /** Points at which the gradient is checked numerically. Empty only for operators without derivative. */
  readonly examples: readonly OpExample[];
  /** Outputs from this one on need not be computed where nobody reads them. */
  readonly optionalFrom?: number;
  /** Set for composites: the node is emitted with its first input only; the others exist for the derivative. */
  readonly composite?: true;
  /** The derivative of such a node is computed only after every gradient that the walk back has met before it (see `backward`). */
  readonly waits?: true;
}

/** Inputs for a gradient check: float inputs are drawn from [low, high], others are given. */
export interface OpExample {
  inputs: readonly (
    | { shape: readonly number[]; low?: number; high?: number; frozen?: boolean }
    | { shape: readonly number[]; ints: readonly number[] }
    | { shape: readonly number[]; bools: readonly boolean[] }
  )[];
  attributes?: Attributes;
  /** The operator's kernel exists in float32 only. */
  float32Only?: boolean;
}

/** Between an input's name and a number, where the input is given another's tensor. */
const AGAIN = "#";

/** The input whose tensor an input of that name is given: itself, unless `Graph.again` made it. */
export function givenAs(name: string): string {
  const [original = name] = name.split(AGAIN);
  return original;
}

/** A graph under construction: nodes in an order in which they can run. */
export class Graph {
  readonly nodes: Node[] = [];
  readonly inputs: Value[] = [];
  /** Tensors that never change, with their elements. */
  readonly constants = new Map<Value, readonly number[]>();
  readonly #constantByKey = new Map<string, Value>();
  readonly #names = new Set<string>();
  readonly #again = new Map<Value, number>();
  #counter = 0;

  /** A tensor given at every run. @throws {InternalError} GRAPH_NAME_TWICE */
  input(name: string, dtype: DType, shape: readonly number[]): Value {
    if (this.#names.has(name)) {
      throw new InternalError("GRAPH_NAME_TWICE", `graph input "${name}" exists already.`);
    }
    this.#names.add(name);
    const value: Value = { graph: this, name, dtype, shape, producer: null };
    this.inputs.push(value);
    return value;
  }

  /**
   * An input that is given the same tensor as another. A runtime computes equal things of one input once and keeps the result from the
   * first reader to the last; of an input of its own it is computed anew.
   */
  again(input: Value): Value {
    const count = (this.#again.get(input) ?? 0) + 1;
    this.#again.set(input, count);
    return this.input(`${input.name}${AGAIN}${count}`, input.dtype, input.shape);
  }

  /** A tensor that never changes; equal constants are one. */
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
          `${op.name}: input "${input.name}" is of another graph.`,
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

/** An operator as a function of its inputs. */
export type OpFunction = Op & ((inputs: readonly Value[], attributes?: Attributes) => Value);

/** Makes an operator callable: `op([a, b], attributes)` gives its first output. */
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

/** Several operators with one derivative of its own, where the chain rule's is slower or less exact. */
export interface Composite {
  (...inputs: Value[]): Value;
  readonly examples: readonly OpExample[];
}

/**
 * Makes a composite: `forward` is built of ordinary operators; `backward` then goes through `vjp` and never into them.
 * @param definition.vjp takes the inputs, the forward's kept values and the cotangent; one result per input.
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
 * A value as it is, whose derivative is the one given: `backward` does not go into what it was built of.
 * @param rule.vjp one cotangent for each of `inputs`; its context is the new node's, whose first input is `result` itself.
 */
export function withDerivative(
  name: string,
  result: Value,
  inputs: readonly Value[],
  rule: Pick<Op, "vjp" | "waits">,
): Value {
  const op: Op = {
    ...rule,
    ...{ name: "Identity", domain: "", composite: true, examples: [] },
    infer: () => [{ dtype: result.dtype, shape: result.shape }],
    vjp: (context) => [null, ...rule.vjp(context)],
  };
  const [output] = result.graph.apply(op, [result, ...inputs]);
  if (output === undefined) throw new InternalError("GRAPH_MIXED", `${name}: no output.`);
  return output;
}

/** Number of elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, axis) => product * axis, 1);
}

/** A scalar of the same type as another value. */
export function scalarLike(like: Value, number: number): Value {
  return like.graph.constant(like.dtype, [], [number]);
}

/** An int64 vector constant: shapes, axes and starts that operators take as inputs. */
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
