import type { Value } from "../autodiff/graph.ts";
import { castTo } from "../autodiff/ops/elementwise.ts";
import { scatterNd } from "../autodiff/ops/indexing.ts";
import { concat, expand, reshape } from "../autodiff/ops/shape.ts";

/** Writes new keys and values into caches of all slots. */
export interface CacheWriter {
  /** Keys [R, KV, d, C] into [slots, KV, d, capacity]. */
  keys(cache: Value, fresh: Value): Value;
  /** Values [R, KV, C, d] into [slots, KV, capacity, d]. */
  values(cache: Value, fresh: Value): Value;
}

/**
 * Writes inside the graph, for caches in device memory: a scatter whose output is its own input cache (given as a fetch) moves
 * only the new elements. Indices are computed from two small inputs.
 *
 * @param slots int32 [R]: the cache slot of each row. @param positions int32 [R, C].
 * @param sizes numbers of key/value heads and of elements per head.
 */
export function cacheWriter(
  slots: Value,
  positions: Value,
  { kvHeads, headDim }: { kvHeads: number; headDim: number },
): CacheWriter {
  const { graph } = slots;
  const [rows, chunk] = positions.shape as readonly [number, number];
  /** Index vectors over axes [R, KV, (d,) C], each part broadcast over the other axes. */
  const indices = (withinHead: boolean): Value => {
    const axes = withinHead ? [rows, kvHeads, headDim, chunk] : [rows, kvHeads, chunk];
    const spread = (part: Value, at: readonly number[]): Value =>
      expand(reshape(part, [...axes.map((n, i) => (at.includes(i) ? n : 1)), 1]), [...axes, 1]);
    const numbers = (count: number): Value =>
      graph.constant(
        "int32",
        [count],
        Array.from({ length: count }, (_, i) => i),
      );
    const parts = [
      spread(slots, [0]),
      spread(numbers(kvHeads), [1]),
      ...(withinHead ? [spread(numbers(headDim), [2])] : []),
      spread(positions, [0, axes.length - 1]),
    ];
    return castTo(concat(parts, { axis: axes.length }), "int64");
  };
  const made = { keys: indices(true), values: indices(false) };
  return {
    keys: (cache, fresh) => scatterNd([cache, made.keys, fresh]),
    values: (cache, fresh) => scatterNd([cache, made.values, fresh]),
  };
}
