import { InternalError } from "../base/errors.ts";
import { dependOn } from "./depend-on.ts";
import { dependents, pullBack } from "./backward.ts";
import { withDerivative, type Node, type Value } from "./graph.ts";

/**
 * Gradient checkpointing (Chen et al., arXiv 1604.06174): returns `build(x)`, keeps only x for the backward pass, and recomputes the
 * block there, which costs one more forward pass.
 *
 * Other inputs of the block (weights, masks) are detected automatically and get cotangents too. The recomputed copy reads an x that
 * depends on the arriving cotangent (`dependOn`): otherwise the runtime would merge the two equal computations and keep the first's results.
 *
 * @param build must create the same nodes at every call; it is called twice when a derivative is needed.
 * @throws {InternalError} GRAPH_CHECKPOINT_LEAK, from `backward`, when the second call uses a tensor of the first call: such a tensor
 *   cannot get a derivative.
 */
export function checkpoint(build: (x: Value) => Value, x: Value): Value {
  const { graph } = x;
  const start = graph.nodes.length;
  const result = build(x);
  const nodes = graph.nodes.slice(start);
  const others = [...readFromOutside(nodes)].filter((value) => value !== x);
  const inputs = [x, ...others];
  const first = dependents(inputs, nodes);
  for (const input of inputs) first.delete(input);
  return withDerivative("checkpoint", result, inputs, {
    waits: true,
    vjp: ({ cotangents: [dy], needed: [, ...needed] }) => {
      if (!dy) return inputs.map(() => null);
      const copy = dependOn(x, [dy]);
      const from = graph.nodes.length;
      const again = build(copy);
      const copies = graph.nodes.slice(from);
      refuseLeak(copies, first);
      const wanted = [copy, ...others].filter((_, i) => needed[i]);
      const found = pullBack(copies, new Map([[again, dy]]), wanted);
      return [copy, ...others].map((value) => found.get(value) ?? null);
    },
  });
}

/**
 * Returns x. The backward pass finishes everything above this point before it continues below, so that the memory of the part above is
 * free by then, even without recomputation.
 */
export function barrier(x: Value): Value {
  return withDerivative("barrier", x, [x], {
    waits: true,
    vjp: ({ cotangents: [dy] }) => [dy ?? null],
  });
}

/** Values that the nodes read but do not compute, without constants. */
function readFromOutside(nodes: readonly Node[]): Set<Value> {
  const made = new Set(nodes.flatMap(({ outputs }) => outputs));
  const read = nodes.flatMap(({ inputs }) => inputs);
  return new Set(read.filter((value) => !made.has(value) && !value.graph.constants.has(value)));
}

function refuseLeak(copies: readonly Node[], first: ReadonlySet<Value>): void {
  for (const value of readFromOutside(copies)) {
    if (!first.has(value)) continue;
    throw new InternalError(
      "GRAPH_CHECKPOINT_LEAK",
      `checkpoint: the second call of the block uses "${value.name}" of the first call. The block must recompute everything that depends on its input or on weights.`,
    );
  }
}
