import { create, toBinary } from "@bufbuild/protobuf";
import type { Attribute, DType, Graph, Node, Value } from "../autodiff/graph.ts";
import {
  AttributeProto_AttributeType as AttributeType,
  AttributeProtoSchema,
  ModelProtoSchema,
  TensorProto_DataLocation,
  TensorProto_DataType as DataType,
  TensorProtoSchema,
  ValueInfoProtoSchema,
  type AttributeProto,
  type TensorProto,
  type ValueInfoProto,
} from "./schema/onnx_pb.ts";
import { lowered, type EmittedNode } from "./lowering.ts";
import type { DeviceName } from "./device-names.ts";

/** Opset of the operator forms in `autodiff/ops` (axes of reductions are inputs, ScatterElements supports "add"). */
const OPSET = 21;
/** Opset of graphs that reinterpret bits as bfloat16, which need BitCast. */
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
  int8: DataType.INT8,
  uint8: DataType.UINT8,
};

/**
 * An ONNX model of a graph.
 *
 * @param outputs the results of a run, by name; only the nodes that they need are emitted.
 * @param options.device decides which missing operators are replaced; default "cpu".
 * @param options.stored names of inputs whose numbers the runtime gets beside the model, once, in files of these names.
 * @param options.given constants that are inputs.
 * @returns the serialised ModelProto.
 */
export function emitModel(
  graph: Graph,
  outputs: Readonly<Record<string, Value>>,
  {
    device = "cpu",
    stored = new Set(),
    given = new Set(),
  }: { device?: DeviceName; stored?: ReadonlySet<string>; given?: ReadonlySet<Value> } = {},
): Uint8Array {
  const nodes = reachable(graph, Object.values(outputs));
  const used = new Set(nodes.flatMap(emittedInputs));
  for (const value of Object.values(outputs)) used.add(value);
  const inputs = [...graph.inputs, ...given].filter((input) => used.has(input));
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
      initializer: [
        ...[...graph.constants]
          .filter(([value]) => used.has(value) && !given.has(value))
          .map(([value, data]) => tensor(value, data)),
        ...inputs.filter(({ name }) => stored.has(name)).map(external),
      ],
      input: inputs.filter(({ name }) => !stored.has(name)).map((each) => typed(each.name, each)),
      output: Object.entries(outputs).map(([name, value]) =>
        // With free axes, the lengths of an output are the runtime's to find.
        graph.freeAxes.size > 0 ? untold(name, value) : typed(name, value),
      ),
    },
  });
  return toBinary(ModelProtoSchema, model);
}

/** Drops unread optional outputs from the end. */
function emitted(
  node: Node,
  used: ReadonlySet<Value>,
  nameOf: (value: Value) => string,
): EmittedNode {
  const { op, attributes, outputs } = node;
  const needed = outputs.findLastIndex((output) => used.has(output)) + 1;
  const read = outputs.slice(0, Math.max(needed, op.optionalFrom ?? Infinity));
  return {
    opType: op.name,
    domain: op.domain,
    name: node.outputs[0]?.name ?? "",
    attributes,
    input: emittedInputs(node).map(nameOf),
    output: read.map(nameOf),
  };
}

/**
 * A graph output is emitted under its output name, so that the runtime writes directly into the given tensor. (An
 * Identity would copy a whole cache at every run.) Only a value with two output names, or an input, needs an Identity.
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

/** Names of the inputs that the outputs need. @param given constants that are inputs. */
export function neededInputs(
  graph: Graph,
  outputs: readonly Value[],
  given: ReadonlySet<Value> = new Set(),
): string[] {
  const used = new Set<Value>([...reachable(graph, outputs).flatMap(emittedInputs), ...outputs]);
  return [...graph.inputs, ...given].filter((input) => used.has(input)).map(({ name }) => name);
}

/**
 * The nodes that outputs need, in executable order. Nodes that widen stored 16-bit numbers come first: the runtime visits a
 * node's inputs from last to first, so it then runs each of them directly before its reader, not before all other nodes.
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

/** Storage types, which graphs only convert to float32. */
const HALVES: ReadonlySet<DType> = new Set(["float16", "bfloat16", "uint16"]);

/** Nodes that read only stored 16-bit numbers and constants. */
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

/** The inputs that a node reads at run time: a composite reads only its first input; the derivative needs the others. */
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

/** An output of any shape. */
function untold(name: string, { dtype }: Value): ValueInfoProto {
  const value = { case: "tensorType" as const, value: { elemType: dataTypes[dtype] } };
  return create(ValueInfoProtoSchema, { name, type: { value } });
}

function typed(name: string, value: Value): ValueInfoProto {
  const { dtype, shape, graph } = value;
  const free = graph.freeAxes.get(value);
  return create(ValueInfoProtoSchema, {
    name,
    type: {
      value: {
        case: "tensorType",
        value: {
          elemType: dataTypes[dtype],
          shape: {
            dim: shape.map((n, axis) => ({
              value:
                free?.[axis] === undefined
                  ? { case: "dimValue" as const, value: BigInt(n) }
                  : { case: "dimParam" as const, value: free[axis] },
            })),
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

/** An initializer whose numbers are a file of its name. */
function external({ name, dtype, shape }: Value): TensorProto {
  return create(TensorProtoSchema, {
    name,
    dims: shape.map(BigInt),
    dataType: dataTypes[dtype],
    dataLocation: TensorProto_DataLocation.EXTERNAL,
    externalData: [{ key: "location", value: name }],
  });
}

function rawBytes(dtype: DType, data: readonly number[]): Uint8Array {
  // The data of a 16-bit constant are its bits.
  const bits = (): Uint16Array => new Uint16Array(data);
  const typed = {
    float32: () => new Float32Array(data),
    float64: () => new Float64Array(data),
    int32: () => new Int32Array(data),
    int64: () => new BigInt64Array(data.map(BigInt)),
    bool: () => new Uint8Array(data),
    float16: bits,
    bfloat16: bits,
    uint16: bits,
    int8: () => new Int8Array(data),
    uint8: () => new Uint8Array(data),
  }[dtype]();
  return new Uint8Array(typed.buffer);
}
