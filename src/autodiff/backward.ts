import { InternalError } from "../base/errors.ts";
import { scalarLike, type Node, type Value } from "./graph.ts";
import { add } from "./ops/elementwise.ts";
import { reduceSum } from "./ops/reduce.ts";
import { reshape } from "./ops/shape.ts";

/**
 * Reverse-mode derivative of a scalar: walks the nodes backwards, asks each operator for its vjp, sums cotangents over
 * broadcast axes once for all operators, and adds where paths meet.
 *
 * @param loss a value of one element.
 * @param wrt values to differentiate by.
 * @returns d loss / d value, one each, in the value's shape.
 * @throws {InternalError} GRAPH_NO_DERIVATIVE when the loss does not depend on a value.
 */
export function backward(loss: Value, wrt: readonly Value[]): Value[] {
  const graph = loss.graph;
  const needed = dependents(wrt, graph.nodes);
  const cotangents = new Map<Value, Value>([[loss, ones(loss)]]);
  const accumulate = (input: Value, cotangent: Value): void => {
    const fitted = sumToShape(cotangent, input.shape);
    const known = cotangents.get(input);
    cotangents.set(input, known === undefined ? fitted : add([known, fitted]));
  };
  // The list grows while cotangents are built: only the nodes that stood at the start are walked.
  for (const node of graph.nodes.slice().reverse()) {
    const arriving = node.outputs.map((output) => cotangents.get(output) ?? null);
    if (
      !node.inputs.some((input) => needed.has(input)) ||
      arriving.every((each) => each === null)
    ) {
      continue;
    }
    const leaving = node.op.vjp({ ...node, cotangents: arriving });
    if (leaving.length !== node.inputs.length) {
      throw new InternalError(
        "GRAPH_NO_DERIVATIVE",
        `${node.op.name}: its vjp gave ${leaving.length} cotangents for ${node.inputs.length} inputs.`,
      );
    }
    leaving.forEach((cotangent, i) => {
      const input = node.inputs[i];
      if (cotangent !== null && input !== undefined && needed.has(input))
        accumulate(input, cotangent);
    });
  }
  return wrt.map((value) => {
    const gradient = cotangents.get(value);
    if (gradient === undefined) {
      throw new InternalError(
        "GRAPH_NO_DERIVATIVE",
        `"${value.name}": the loss does not depend on it, so it has no gradient.`,
      );
    }
    return gradient;
  });
}

/** Everything that changes when one of the values does, the values included. */
function dependents(values: readonly Value[], nodes: readonly Node[]): Set<Value> {
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

/** Sums a cotangent over the axes along which its value was broadcast. */
function sumToShape(cotangent: Value, shape: readonly number[]): Value {
  const lead = cotangent.shape.length - shape.length;
  const axes = cotangent.shape
    .map((_, i) => i)
    .filter((i) => i < lead || (shape[i - lead] === 1 && cotangent.shape[i] !== 1));
  const summed = axes.length === 0 ? cotangent : reduceSum(cotangent, axes);
  return summed.shape.length === shape.length ? summed : reshape(summed, shape);
}
