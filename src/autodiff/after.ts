import { scalarLike, type Value } from "./graph.ts";
import { greater, where } from "./ops/elementwise.ts";
import { reduceSum } from "./ops/reduce.ts";
import { concat, firstElement } from "./ops/shape.ts";

/**
 * `x`, to the bit but for −0, which may become 0, and not before `values` are computed: a runtime orders nodes by what they read alone.
 *
 * Chosen between x and x by the sign of a number made of one element of each value: whatever that number is, even NaN, the choice is x;
 * and no runtime can know that it need not be made.
 *
 * @param values float tensors of one type, of at least one element each.
 */
export function after(x: Value, values: readonly Value[]): Value {
  const [first, ...others] = values.map(firstElement);
  if (first === undefined) return x;
  const sum = others.length === 0 ? first : reduceSum(concat([first, ...others], { axis: 0 }), [0]);
  return where([greater([sum, scalarLike(sum, 0)]), x, x]);
}
