import { sizeOf, type DType, type Graph, type Node, type Value } from "../autodiff/graph.ts";
import { emittedInputs, reachable } from "./emit.ts";

const ELEMENT_BYTES: Record<DType, number> = {
  float32: 4,
  float64: 8,
  int32: 4,
  int64: 8,
  bool: 1,
  float16: 2,
  bfloat16: 2,
  uint16: 2,
};

/** Operators whose output is their first input's memory under another shape. */
const VIEWS = new Set(["Reshape", "Identity"]);
/** Operators whose processor kernels may write over an input that nobody reads after them (allocations counted, 1.30). */
const IN_PLACE = new Set(["Softmax", "LogSoftmax", "Sigmoid", "ScatterND", "ScatterElements"]);
/** Buffers of their output's size that kernels take for themselves. */
const TEMPORARIES: Readonly<Record<string, number>> = { Where: 2 };
/** Transposes that the runtime folds into the products that read them. */
const PRODUCTS = new Set(["MatMul", "Gemm"]);

export interface RunMemory {
  /** Most bytes that a run takes at one time, for what it computes; inputs and tensors given to write into apart. */
  peak: number;
  /** Bytes of constants, computed ones included: kept as long as the compiled graph. */
  constants: number;
}

/**
 * How much memory a run of a graph takes, found by planning it as onnxruntime does (`allocation_planner.cc`): nodes run depth first from
 * the outputs; views share memory; some nodes write over an input that nobody reads after them; any other value takes a
 * buffer of its shape that is free by then, or a new one. A buffer that will be taken again is not given back in between, so a run holds
 * more than what is alive. Of the runtime's fusions, transposes that go into products are followed.
 *
 * @param inPlace names of outputs for which tensors are given at every run.
 */
export function runMemory(
  graph: Graph,
  outputs: Readonly<Record<string, Value>>,
  inPlace: (output: string) => boolean,
): RunMemory {
  const nodes = reachable(graph, Object.values(outputs));
  const fixed = constantValues(graph, nodes);
  const order = runOrder(nodes.filter((node) => !fixed.has(node.outputs[0]!)));
  const named = Object.entries(outputs);
  const given = new Set(named.filter(([name]) => inPlace(name)).map(([, value]) => value));
  const buffers = planBuffers(order, new Set(Object.values(outputs)), given);
  const constants = [...fixed].reduce((sum, value) => sum + bytesOf(value), 0);
  return { peak: peakOf(buffers, order.length), constants };
}

/** Memory of the runtime's own, from the node that first writes it to the last that reads it. */
interface Buffer {
  bytes: number;
  from: number;
  to: number;
}

function planBuffers(
  order: readonly Node[],
  kept: ReadonlySet<Value>,
  given: ReadonlySet<Value>,
): Buffer[] {
  const roots = memoryRoots(order);
  const root = (value: Value): Value => roots.get(value) ?? value;
  const reads = new Map<Value, number>();
  for (const node of order) {
    for (const input of new Set(emittedInputs(node).map(root))) {
      reads.set(input, (reads.get(input) ?? 0) + 1);
    }
  }
  const keptRoots = new Set([...kept].map(root));
  const buffers: Buffer[] = [];
  const bufferOf = new Map<Value, Buffer>();
  /** Free buffers by shape, the last freed first. */
  const free = new Map<string, Buffer[]>();
  order.forEach((node, at) => {
    const inputs = [...new Set(emittedInputs(node).map(root))];
    for (const output of node.outputs) {
      if (root(output) !== output || given.has(output)) continue;
      if (!reads.has(output) && !keptRoots.has(output)) continue;
      // By the shape under which it is read: views of a buffer may have others.
      const over = IN_PLACE.has(node.op.name)
        ? emittedInputs(node)
            .slice(0, 2)
            .filter((each) => shapeKey(each) === shapeKey(output))
            .map(root)
            .find((each) => reads.get(each) === 1 && !keptRoots.has(each))
        : undefined;
      let buffer = over === undefined ? undefined : bufferOf.get(over);
      if (buffer === undefined) buffer = free.get(shapeKey(output))?.pop();
      else bufferOf.delete(over!);
      if (buffer === undefined) {
        buffer = { bytes: bytesOf(output), from: at, to: at };
        buffers.push(buffer);
      }
      buffer.to = keptRoots.has(output) ? order.length : at;
      bufferOf.set(output, buffer);
    }
    const temporaries = TEMPORARIES[node.op.name] ?? 0;
    const bytes = temporaries * bytesOf(node.outputs[0]!);
    if (bytes > 0) buffers.push({ bytes, from: at, to: at });
    for (const input of inputs) {
      reads.set(input, reads.get(input)! - 1);
      const buffer = bufferOf.get(input);
      if (reads.get(input) !== 0 || buffer === undefined || keptRoots.has(input)) continue;
      buffer.to = at;
      bufferOf.delete(input);
      const key = shapeKey(input);
      free.set(key, [...(free.get(key) ?? []), buffer]);
    }
  });
  return buffers;
}

function peakOf(buffers: readonly Buffer[], length: number): number {
  const changes = new Float64Array(length + 2);
  for (const { bytes, from, to } of buffers) {
    changes[from]! += bytes;
    changes[to + 1]! -= bytes;
  }
  let now = 0;
  let peak = 0;
  for (const change of changes) {
    now += change;
    peak = Math.max(peak, now);
  }
  return peak;
}

function shapeKey({ dtype, shape }: Value): string {
  return `${dtype} ${shape.join()}`;
}

function bytesOf({ dtype, shape }: Value): number {
  return ELEMENT_BYTES[dtype] * sizeOf(shape);
}

/** Constants that nodes read, and what the runtime computes of constants alone when it compiles. */
function constantValues(graph: Graph, nodes: readonly Node[]): Set<Value> {
  const fixed = new Set<Value>();
  const isFixed = (value: Value): boolean => graph.constants.has(value) || fixed.has(value);
  for (const node of nodes) {
    const inputs = emittedInputs(node);
    for (const input of inputs) if (graph.constants.has(input)) fixed.add(input);
    if (inputs.every(isFixed)) for (const output of node.outputs) fixed.add(output);
  }
  return fixed;
}

/** Which value's memory a view shares, and a transposed matrix that a product reads as it lies. */
function memoryRoots(nodes: readonly Node[]): Map<Value, Value> {
  const readers = new Map<Value, Node[]>();
  for (const node of nodes) {
    for (const input of emittedInputs(node)) {
      readers.set(input, [...(readers.get(input) ?? []), node]);
    }
  }
  const roots = new Map<Value, Value>();
  for (const node of nodes) {
    const [input] = node.inputs;
    const [output] = node.outputs;
    const folded =
      node.op.name === "Transpose" &&
      swapsLast(node) &&
      (readers.get(output!) ?? []).every(({ op }) => PRODUCTS.has(op.name));
    if (VIEWS.has(node.op.name) || folded) roots.set(output!, roots.get(input!) ?? input!);
  }
  return roots;
}

function swapsLast({ attributes: { perm } }: Node): boolean {
  const axes = perm as readonly number[];
  const rank = axes.length;
  const rest = axes.slice(0, -2).every((axis, i) => axis === i);
  return rest && axes[rank - 2] === rank - 1 && axes[rank - 1] === rank - 2;
}

/** Depth first from the nodes that nobody reads, inputs with larger numbers first. */
function runOrder(nodes: readonly Node[]): Node[] {
  const number = new Map(nodes.map((node, i) => [node, i]));
  const producers = nodes.map((node) => {
    const found = emittedInputs(node).flatMap(({ producer }) =>
      producer !== null && number.has(producer) ? [number.get(producer)!] : [],
    );
    return [...new Set(found)].sort((a, b) => a - b);
  });
  const read = new Set(producers.flat());
  const stack = nodes.flatMap((_, i) => (read.has(i) ? [] : [{ at: i, leaving: false }]));
  const visited = new Set<number>();
  const order: Node[] = [];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { at, leaving } = entry;
    if (leaving) {
      order.push(nodes[at]!);
      continue;
    }
    if (visited.has(at)) continue;
    visited.add(at);
    stack.push({ at, leaving: true });
    for (const each of producers[at]!)
      if (!visited.has(each)) stack.push({ at: each, leaving: false });
  }
  return order;
}
