import { scalarLike, type Value } from "./graph.ts";
import { greater, where } from "./ops/elementwise.ts";
import { reduceSum } from "./ops/reduce.ts";
import { concat, firstElement } from "./ops/shape.ts";

/**
 * Returns x unchanged (−0 may become 0) with a fake data dependency, so that the runtime computes `values` first: it orders nodes
 * only by their inputs.
 *
 * The node selects between x and x by the sign of a sum of one element of each value. Every sum selects x, even NaN, and the runtime
 * cannot optimise the selection away.
 *
 * @param values non-empty float tensors of one type.
 */
export function dependOn(x: Value, values: readonly Value[]): Value {
  const [first, ...others] = values.map(firstElement);
  if (first === undefined) return x;
  const sum = others.length === 0 ? first : reduceSum(concat([first, ...others], { axis: 0 }), [0]);
  return where([greater([sum, scalarLike(sum, 0)]), x, x]);
}
