import { InternalError } from "../base/errors.ts";
import { pullBack } from "./backward.ts";
import { dependOn } from "./depend-on.ts";
import { scalarLike, withDerivative, type Value } from "./graph.ts";
import { mul } from "./ops/elementwise.ts";
import { expand } from "./ops/shape.ts";

/**
 * Returns `build(x)`, one number for each row of x, whose derivative by that row the forward pass computes and keeps, [N, D]: the backward pass
 * only multiplies it by the cotangent, so nothing inside the block is kept or computed again. The block must not mix rows, and its other
 * inputs get no cotangent.
 *
 * @param build from [N, D] to [N, 1].
 * @throws {InternalError} GRAPH_NO_DERIVATIVE when the result does not depend on x.
 */
export function rowGradients(build: (x: Value) => Value, x: Value): Value {
  const { graph } = x;
  const start = graph.nodes.length;
  const result = build(x);
  const ones = expand(scalarLike(result, 1), result.shape);
  const gradient = pullBack(graph.nodes.slice(start), new Map([[result, ones]]), [x]).get(x);
  if (gradient === undefined) {
    throw new InternalError(
      "GRAPH_NO_DERIVATIVE",
      `"${x.name}": the block does not depend on it, so its rows have no gradient.`,
    );
  }
  // The runtime would otherwise postpone the gradient to the backward pass, and keep what it is computed from.
  return withDerivative("rowGradients", dependOn(result, [gradient]), [x], {
    vjp: ({ cotangents: [dy] }) => [dy ? mul([gradient, dy]) : null],
  });
}
