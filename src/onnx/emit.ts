import { create, toBinary } from "@bufbuild/protobuf";
import type { Attribute, DType, Graph, Node, Value } from "../autodiff/graph.ts";
import {
  AttributeProto_AttributeType as AttributeType,
  AttributeProtoSchema,
  ModelProtoSchema,
  TensorProto_DataType as DataType,
  TensorProtoSchema,
  ValueInfoProtoSchema,
  type AttributeProto,
  type TensorProto,
  type ValueInfoProto,
} from "./schema/onnx_pb.ts";
import { lowered, type EmittedNode } from "./lowering.ts";
import type { DeviceName } from "./device-names.ts";

/** Opset whose operator forms `autodiff/ops` follows (axes of reductions are inputs, ScatterElements knows "add"). */
const OPSET = 21;
/** That of graphs which read bits as bfloat16: BitCast came with it. */
const BITCAST_OPSET = 26;
const IR_VERSION = 10n;

const dataTypes: Record<DType, DataType> = {
  float32: DataType.FLOAT,
  float64: DataType.DOUBLE,
  int32: DataType.INT32,
  int64: DataType.INT64,
  bool: DataType.BOOL,
  float16: DataType.FLOAT16,
  bfloat16: DataType.BFLOAT16,
  uint16: DataType.UINT16,
};

/**
 * An ONNX model of a graph.
 *
 * @param outputs what a run returns, by name; only the nodes that these need are emitted.
 * @param device for which operators that it lacks are written as others.
 * @returns the serialised ModelProto.
 */
export function emitModel(
  graph: Graph,
  outputs: Readonly<Record<string, Value>>,
  device: DeviceName = "cpu",
): Uint8Array {
  const nodes = reachable(graph, Object.values(outputs));
  const used = new Set(nodes.flatMap(emittedInputs));
  for (const value of Object.values(outputs)) used.add(value);
  const { nameOf, aliases } = outputNames(outputs);
  const opset = nodes.some(({ op }) => op.name === "BitCast") ? BITCAST_OPSET : OPSET;
  const model = create(ModelProtoSchema, {
    irVersion: IR_VERSION,
    producerName: "agentrl",
    opsetImport: [
      { domain: "", version: BigInt(opset) },
      { domain: "com.microsoft", version: 1n },
    ],
    graph: {
      name: "graph",
      node: [
        ...nodes
          .flatMap((node) => lowered(emitted(node, used, nameOf), device))
          .map(({ attributes, ...node }) => ({
            ...node,
            attribute: Object.entries(attributes).map(([name, each]) => attribute(name, each)),
          })),
        ...aliases,
      ],
      initializer: [...graph.constants]
        .filter(([value]) => used.has(value))
        .map(([value, data]) => tensor(value, data)),
      input: graph.inputs.filter((input) => used.has(input)).map((each) => typed(each.name, each)),
      output: Object.entries(outputs).map(([name, value]) => typed(name, value)),
    },
  });
  return toBinary(ModelProtoSchema, model);
}

/** Optional outputs that nobody reads are left out from the end. */
function emitted(
  node: Node,
  used: ReadonlySet<Value>,
  nameOf: (value: Value) => string,
): EmittedNode {
  const { op, attributes, outputs } = node;
  const needed = outputs.findLastIndex((output) => used.has(output)) + 1;
  const read = outputs.slice(0, Math.max(needed, op.optionalFrom ?? Infinity));
  return {
    ...{ opType: op.name, domain: op.domain, name: node.outputs[0]?.name ?? "", attributes },
    input: emittedInputs(node).map(nameOf),
    output: read.map(nameOf),
  };
}

/**
 * A value asked for is emitted under its output's name, so that the runtime writes straight into a tensor given for it (an
 * Identity in between would copy a whole cache at every run). Only a value asked for twice, or given as an input, needs one.
 */
function outputNames(outputs: Readonly<Record<string, Value>>): {
  nameOf: (value: Value) => string;
  aliases: { opType: string; domain: string; input: string[]; output: string[] }[];
} {
  const direct = new Map<Value, string>();
  const aliased: [string, Value][] = [];
  for (const [name, value] of Object.entries(outputs)) {
    if (value.producer === null || direct.has(value)) aliased.push([name, value]);
    else direct.set(value, name);
  }
  const nameOf = (value: Value): string => direct.get(value) ?? value.name;
  const aliases = aliased.map(([name, value]) => {
    return { opType: "Identity", domain: "", input: [nameOf(value)], output: [name] };
  });
  return { nameOf, aliases };
}

/** Names of the inputs that the outputs need. */
export function neededInputs(graph: Graph, outputs: readonly Value[]): string[] {
  const used = new Set<Value>([...reachable(graph, outputs).flatMap(emittedInputs), ...outputs]);
  return graph.inputs.filter((input) => used.has(input)).map((input) => input.name);
}

/**
 * Nodes that outputs need, in an order in which they can run. What widens stored numbers of 16 bits comes first: a runtime that takes a
 * node's inputs from the last to the first then runs it right before the node that reads it, and not before all else.
 */
export function reachable(graph: Graph, outputs: readonly Value[]): Node[] {
  const wanted = new Set(outputs);
  const kept: Node[] = [];
  for (const node of graph.nodes.slice().reverse()) {
    if (node.outputs.some((output) => wanted.has(output))) {
      kept.push(node);
      for (const input of emittedInputs(node)) wanted.add(input);
    }
  }
  const nodes = kept.reverse();
  const first = widening(graph, nodes);
  return [...first, ...nodes.filter((node) => !first.has(node))];
}

/** Types that graphs only widen. */
const HALVES: ReadonlySet<DType> = new Set(["float16", "bfloat16", "uint16"]);

/** Nodes that read nothing but stored numbers of 16 bits and constants. */
function widening(graph: Graph, nodes: readonly Node[]): Set<Node> {
  const found = new Set<Node>();
  const given = ({ dtype, producer }: Value): boolean =>
    HALVES.has(dtype) && (producer === null || found.has(producer));
  for (const node of nodes) {
    const inputs = emittedInputs(node).filter((input) => !graph.constants.has(input));
    if (inputs.length > 0 && inputs.every(given)) found.add(node);
  }
  return found;
}

/** What a node reads when it runs: of a composite its first input, the others being there for the derivative. */
export function emittedInputs(node: Node): readonly Value[] {
  return node.op.composite === true ? node.inputs.slice(0, 1) : node.inputs;
}

function attribute(name: string, value: Attribute): AttributeProto {
  if (typeof value === "string") {
    const s = new TextEncoder().encode(value);
    return create(AttributeProtoSchema, { name, type: AttributeType.STRING, s });
  }
  if (typeof value === "number") {
    return create(AttributeProtoSchema, { name, type: AttributeType.INT, i: BigInt(value) });
  }
  if ("float" in value) {
    return create(AttributeProtoSchema, { name, type: AttributeType.FLOAT, f: value.float });
  }
  return create(AttributeProtoSchema, { name, type: AttributeType.INTS, ints: value.map(BigInt) });
}

function typed(name: string, { dtype, shape }: Value): ValueInfoProto {
  return create(ValueInfoProtoSchema, {
    name,
    type: {
      value: {
        case: "tensorType",
        value: {
          elemType: dataTypes[dtype],
          shape: {
            dim: shape.map((n) => ({ value: { case: "dimValue" as const, value: BigInt(n) } })),
          },
        },
      },
    },
  });
}

function tensor(value: Value, data: readonly number[]): TensorProto {
  return create(TensorProtoSchema, {
    name: value.name,
    dims: value.shape.map(BigInt),
    dataType: dataTypes[value.dtype],
    rawData: rawBytes(value.dtype, data),
  });
}

function rawBytes(dtype: DType, data: readonly number[]): Uint8Array {
  // Of numbers of 16 bits a constant's data are their bits.
  const bits = (): Uint16Array => new Uint16Array(data);
  const typed = {
    float32: () => new Float32Array(data),
    float64: () => new Float64Array(data),
    int32: () => new Int32Array(data),
    int64: () => new BigInt64Array(data.map(BigInt)),
    bool: () => new Uint8Array(data),
    ...{ float16: bits, bfloat16: bits, uint16: bits },
  }[dtype]();
  return new Uint8Array(typed.buffer);
}
