import { InternalError } from "../base/errors.ts";
import { after } from "./after.ts";
import { dependents, pullBack } from "./backward.ts";
import { withDerivative, type Node, type Value } from "./graph.ts";

/**
 * `build(x)`, of which nothing but x is kept for the derivative: on the way back it is built and computed once more. This is gradient
 * checkpointing (Chen et al., arXiv 1604.06174), paid with one more forward.
 *
 * What `build` reads beside x (weights, masks) is found, not declared, and gets its cotangents too. The second copy starts from an x that
 * waits for the arriving cotangent (`after`): otherwise a runtime would see two equal computations and keep the first one's results.
 *
 * @param build makes the same nodes at every call; called twice where a derivative is asked for.
 * @throws {InternalError} GRAPH_CHECKPOINT_LEAK when the second call reads what the first computed, which the derivative cannot go through.
 *   Thrown by `backward`.
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
      const copy = after(x, [dy]);
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
 * x, below which the derivative goes on only when all above it is done: the memory that what is above needs is free by then, also where
 * nothing is computed again.
 */
export function settled(x: Value): Value {
  return withDerivative("settled", x, [x], {
    waits: true,
    vjp: ({ cotangents: [dy] }) => [dy ?? null],
  });
}

/** What nodes read that none of them made, constants aside. */
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
      `checkpoint: built again, its function reads "${value.name}" of the first time. It must make anew all that depends on its input or on weights.`,
    );
  }
}
