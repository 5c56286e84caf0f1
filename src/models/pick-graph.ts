import { scalarLike, type Value } from "../autodiff/graph.ts";
import {
  add,
  castTo,
  greater,
  greaterOrEqual,
  lessOrEqual,
  log,
  mul,
  sub,
  where,
} from "../autodiff/ops/elementwise.ts";
import { gather, gatherElements } from "../autodiff/ops/indexing.ts";
import { matMul } from "../autodiff/ops/linear.ts";
import { reduceMax, reduceSum } from "../autodiff/ops/reduce.ts";
import { concat, expand, reshape, slice } from "../autodiff/ops/shape.ts";

/**
 * Draws one column of each row of probabilities [R, V] inside a graph, so that no row leaves the device: inverts the cumulative
 * sum, first over about √V blocks and then within one. Cumulative sums are products with a triangular matrix of ones.
 *
 * @param given.uniform float32 [R, 1], in [0, 1).
 * @param given.greedy float32 [R, 1]: 1 selects the most likely column, the first on ties.
 * @returns `id` int32 [R, 1] and its `logprob` [R, 1], nats.
 */
export function pick(
  probabilities: Value,
  given: { uniform: Value; greedy: Value },
): { id: Value; logprob: Value } {
  const [rows, size] = probabilities.shape as readonly [number, number];
  const width = Math.ceil(Math.sqrt(size));
  const count = Math.ceil(size / width);
  const gap = count * width - size;
  const zeros = expand(scalarLike(probabilities, 0), [rows, gap]);
  const padded = gap === 0 ? probabilities : concat([probabilities, zeros], { axis: 1 });
  const blocks = reshape(padded, [rows, count, width]);
  const masses = reshape(reduceSum(blocks, [2]), [rows, count]);
  const block = draw(masses, given.uniform, null);
  const numbers = probabilities.graph.constant("int32", [rows, 1], range(rows));
  const start = mul([numbers, scalarLike(numbers, count)]);
  const chosen = reshape(add([start, block.index]), [rows]);
  const within = gather([reshape(padded, [rows * count, width]), chosen]);
  const column = draw(within, given.uniform, block);
  const offset = mul([block.index, scalarLike(block.index, width)]);
  const likeliest = firstLargest(probabilities);
  const asked = greater([given.greedy, scalarLike(given.greedy, 0.5)]);
  const id = where([asked, likeliest, add([offset, column.index])]);
  return { id, logprob: log([gatherElements([probabilities, id], { axis: 1 })]) };
}

interface Draw {
  /** int32 [R, 1] */
  index: Value;
  /** Total mass of all earlier columns, and the target, both [R, 1]. */
  before: Value;
  target: Value;
}

/**
 * The first column with non-zero mass whose cumulative sum exceeds the target: a share `uniform` of the total mass or, inside a block, the
 * rest of the block's target. Rounding of float32 sums can miss the target; then the heaviest column is chosen, never one without mass.
 */
function draw(masses: Value, uniform: Value, outer: Draw | null): Draw {
  const { graph } = masses;
  const [, size] = masses.shape as readonly [number, number];
  const column = graph.constant("int32", [size, 1], range(size));
  const row = graph.constant("int32", [1, size], range(size));
  const one = scalarLike(masses, 1);
  const zero = scalarLike(masses, 0);
  const triangle = where([lessOrEqual([column, row]), one, zero]);
  const sums = matMul([masses, triangle]);
  const target =
    outer === null
      ? mul([uniform, slice(sums, 1, size - 1, size)])
      : sub([outer.target, outer.before]);
  // Columns beyond the target get one equal value (so the first wins), larger than any mass, which is at most about 1.
  const weighted = where([greater([masses, zero]), scalarLike(masses, 4), zero]);
  const preference = where([greater([sums, target]), weighted, masses]);
  const index = firstLargest(preference);
  const mass = gatherElements([masses, index], { axis: 1 });
  const upTo = gatherElements([sums, index], { axis: 1 });
  return { index, target, before: sub([upTo, mass]) };
}

/** Column of each row's largest element, the first on ties: [R, N] → int32 [R, 1]. GPUs cannot cast the output of ArgMax. */
function firstLargest(x: Value): Value {
  const size = x.shape[1]!;
  const fromEnd = x.graph.constant(
    "float32",
    [1, size],
    range(size).map((i) => size - i),
  );
  const largest = greaterOrEqual([x, reduceMax(x, [1])]);
  const first = reduceMax(where([largest, fromEnd, scalarLike(x, 0)]), [1]);
  return castTo(sub([scalarLike(x, size), first]), "int32");
}

function range(size: number): number[] {
  return Array.from({ length: size }, (_, i) => i);
}
