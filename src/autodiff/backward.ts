import { InternalError } from "../base/errors.ts";
import { dependOn } from "./depend-on.ts";
import { scalarLike, sizeOf, type Node, type Value } from "./graph.ts";
import { add } from "./ops/elementwise.ts";
import { reduceSum } from "./ops/reduce.ts";
import { reshape } from "./ops/shape.ts";

/**
 * Reverse-mode derivative of a scalar: walks the nodes backwards, calls each operator's vjp, sums cotangents over
 * broadcast axes, and adds the cotangents of all paths.
 *
 * @param loss a value with one element.
 * @param wrt the values to differentiate by.
 * @param onto accumulated gradients by value; the first contribution is added to them at once.
 * @returns d loss / d value (plus `onto`), in the order of `wrt` and in each value's shape.
 * @throws {InternalError} GRAPH_NO_DERIVATIVE when the loss does not depend on a value.
 */
export function backward(
  loss: Value,
  wrt: readonly Value[],
  onto: ReadonlyMap<Value, Value> = new Map(),
): Value[] {
  const seeds = new Map([...onto, [loss, ones(loss)]]);
  // The first waiting node waits for the loss: a runtime that postponed it would keep its inputs.
  const found = pullBack(loss.graph.nodes, seeds, wrt, [loss]);
  return wrt.map((value) => {
    const gradient = found.get(value);
    if (gradient === undefined || gradient === onto.get(value)) {
      throw new InternalError(
        "GRAPH_NO_DERIVATIVE",
        `"${value.name}": the loss does not depend on it, so it has no gradient.`,
      );
    }
    return gradient;
  });
}

/**
 * The walk of `backward` from any cotangents. A node with `waits` gets its cotangents only after the runtime has computed everything that was
 * accumulated so far for `wrt` and by other such nodes, so that its memory and theirs are not needed at the same time. Otherwise the
 * runtime may postpone every weight gradient to the end and keep all their inputs.
 *
 * @param nodes in executable order; the walk stays within them.
 * @param seeds initial cotangents by value.
 * @param first further values that the first node with `waits` waits for.
 * @returns every found cotangent by value; a value of `wrt` without one is missing.
 */
export function pullBack(
  nodes: readonly Node[],
  seeds: ReadonlyMap<Value, Value>,
  wrt: readonly Value[],
  first: readonly Value[] = [],
): ReadonlyMap<Value, Value> {
  const needed = dependents(wrt, nodes);
  const cotangents = new Map(seeds);
  const asked = new Set(wrt);
  const fresh = new Map(first.map((value) => [value, value]));
  const waited = new Map<Value, Value>();
  const accumulate = (input: Value, cotangent: Value, awaited: boolean): void => {
    const fitted = sumToShape(cotangent, input.shape);
    const known = waited.get(input) ?? cotangents.get(input);
    const sum = known === undefined ? fitted : add([known, fitted]);
    waited.delete(input);
    cotangents.set(input, sum);
    if (awaited || asked.has(input)) fresh.set(input, sum);
  };
  // The waiting reads a reshape of the sum, and later additions do too. A reshape costs nothing, and the runtime can fold a result with
  // one reader, including its sum and transposes, into one kernel.
  const waitFor = (input: Value, sum: Value): Value => {
    const flat = reshape(sum, [sizeOf(sum.shape)]);
    waited.set(input, reshape(flat, sum.shape));
    return flat;
  };
  // The list grows while cotangents are built: walk only the nodes that were there at the start.
  for (const node of nodes.slice().reverse()) {
    let arriving = node.outputs.map((output) => cotangents.get(output) ?? null);
    const wanted = node.inputs.map((input) => needed.has(input));
    if (!wanted.includes(true) || arriving.every((each) => each === null)) continue;
    if (node.op.waits === true) {
      for (const output of node.outputs) fresh.delete(output);
      const before = [...fresh].map(([input, sum]) => waitFor(input, sum));
      fresh.clear();
      arriving = arriving.map((each) => each && dependOn(each, before));
    }
    const leaving = node.op.vjp({ ...node, cotangents: arriving, needed: wanted });
    if (leaving.length !== node.inputs.length) {
      throw new InternalError(
        "GRAPH_NO_DERIVATIVE",
        `${node.op.name}: its vjp gave ${leaving.length} cotangents for ${node.inputs.length} inputs.`,
      );
    }
    leaving.forEach((cotangent, i) => {
      const input = node.inputs[i];
      if (cotangent !== null && input !== undefined && wanted[i] === true)
        accumulate(input, cotangent, node.op.waits === true);
    });
  }
  return cotangents;
}

/** The values, and everything that depends on them. */
export function dependents(values: readonly Value[], nodes: readonly Node[]): Set<Value> {
  const found = new Set(values);
  for (const node of nodes) {
    if (node.inputs.some((input) => found.has(input))) {
      for (const output of node.outputs) found.add(output);
    }
  }
  return found;
}

function ones(loss: Value): Value {
  return reshape(scalarLike(loss, 1), loss.shape);
}

/** Sums a cotangent over the broadcast axes of its value. */
function sumToShape(cotangent: Value, shape: readonly number[]): Value {
  const lead = cotangent.shape.length - shape.length;
  const axes = cotangent.shape
    .map((_, i) => i)
    .filter((i) => i < lead || (shape[i - lead] === 1 && cotangent.shape[i] !== 1));
  const summed = axes.length === 0 ? cotangent : reduceSum(cotangent, axes);
  return summed.shape.length === shape.length ? summed : reshape(summed, shape);
}
