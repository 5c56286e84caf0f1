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
  int8: 1,
  uint8: 1,
};

/** Operators whose output shares the memory of their first input. */
const VIEWS = new Set(["Reshape", "Identity"]);
/** Operators whose CPU kernels may overwrite an input without later readers (from counted allocations, 1.30). */
const IN_PLACE = new Set(["Softmax", "LogSoftmax", "Sigmoid", "ScatterND", "ScatterElements"]);
/** Temporary buffers per kernel, in sizes of its output. */
const TEMPORARIES: Readonly<Record<string, number>> = { Where: 2 };
/** Products that absorb a transpose of their inputs. */
const PRODUCTS = new Set(["MatMul", "Gemm"]);

export interface RunMemory {
  /** Peak bytes of a run's intermediate values, without inputs and given output tensors. */
  peak: number;
  /** Bytes of constants, including folded ones, which stay as long as the compiled graph. */
  constants: number;
}

/**
 * Estimates the memory of a run by the same plan as onnxruntime (`allocation_planner.cc`): nodes run depth first from
 * the outputs; views share memory; some nodes overwrite an input without later readers; any other value reuses a free
 * buffer of its shape or takes a new one. A buffer that will be reused is not freed in between, so a run holds
 * more than its live values. Of the runtime's fusions, only transposes inside products are modelled.
 *
 * @param inPlace whether an output, by name, gets a tensor at every run.
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

/** A memory block of the runtime, from the first node that writes it to the last that reads it. */
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
  /** Free buffers by shape, last freed first. */
  const free = new Map<string, Buffer[]>();
  order.forEach((node, at) => {
    const inputs = [...new Set(emittedInputs(node).map(root))];
    for (const output of node.outputs) {
      if (root(output) !== output || given.has(output)) continue;
      if (!reads.has(output) && !keptRoots.has(output)) continue;
      // By the shape of the read value: views of a buffer may have other shapes.
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

/** Constants that nodes read, and constant-folded values. */
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

/** The value whose memory a view, or a transposed matrix inside a product, shares. */
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

/** Depth first from the nodes without readers; higher-numbered inputs first. */
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
