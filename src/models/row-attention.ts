import type { Value } from "../autodiff/graph.ts";
import { attention } from "../autodiff/ops/composites.ts";
import { concat, reshape, slice, split, transpose } from "../autodiff/ops/shape.ts";
import { windowOf, type DecoderConfig } from "./config.ts";

/** Numbers of blocks of a row's queries, and the longest row that has so many: shorter blocks skip more scores, longer ones have larger products. */
const BLOCKS = [
  [1, 64],
  [2, 128],
  [4, 512],
  [8, Infinity],
] as const;

/** How rows are divided: the structure of their attention, whatever their length. */
export interface BlockPlan {
  /** Equal blocks of a row's queries. */
  count: number;
  /** First block of keys that each block of queries sees under the model's window; null where a row is no longer than the window. */
  first: readonly number[] | null;
}

/** Number of blocks for a row of this length. */
function blocksOf(length: number): number {
  return BLOCKS.find(([, longest]) => length <= longest)?.[0] ?? 1;
}

/** How many numbers of blocks rows of up to this length have. */
export function blockCounts(length: number): number {
  return BLOCKS.findIndex(([, longest]) => length <= longest) + 1;
}

/** The shortest row that has more blocks than one of this length; null: none. */
export function nextLength(length: number): number | null {
  const longest = BLOCKS.find(([, most]) => length <= most)?.[1] ?? Infinity;
  return longest === Infinity ? null : paddedLength(longest + 1);
}

/** How rows of this length are divided; not at all where it is no multiple of the number of blocks (`paddedLength`). */
export function blockPlan(config: DecoderConfig, length: number): BlockPlan {
  const wanted = blocksOf(length);
  const count = length % wanted === 0 ? wanted : 1;
  const window = config.slidingWindow?.size ?? Infinity;
  if (window >= length) return { count, first: null };
  const size = length / count;
  const firstOf = (block: number): number =>
    Math.max(0, Math.floor((block * size - window + 1) / size));
  return { count, first: Array.from({ length: count }, (_, block) => firstOf(block)) };
}

/** The next length that divides into the blocks for it, of a multiple of 8 tokens each. */
export function paddedLength(length: number): number {
  const step = 8 * blocksOf(length);
  return step * Math.ceil(length / step);
}

/** What one block of queries sees: the blocks of keys from `first` up to its own, under a mask [t, keys]. */
interface QueryBlock {
  first: number;
  mask: Value;
}

/**
 * The blocks of each window size, created on first use.
 * @param masks as `causalMasks`, of `length` positions.
 */
export function queryBlocks(
  masks: (window: number) => Value,
  length: number,
  { count, first }: BlockPlan,
): (window: number) => readonly QueryBlock[] {
  const size = length / count;
  const made = new Map<boolean, readonly QueryBlock[]>();
  return (window) => {
    const isNarrow = first !== null && window !== Infinity;
    const known = made.get(isNarrow);
    if (known !== undefined) return known;
    const whole = masks(isNarrow ? window : Infinity);
    const blocks = Array.from({ length: count }, (_, i): QueryBlock => {
      const from = isNarrow ? first[i]! : 0;
      if (count === 1) return { first: from, mask: whole };
      const queries = slice(whole, 0, i * size, (i + 1) * size);
      return { first: from, mask: slice(queries, 1, from * size, (i + 1) * size) };
    });
    made.set(isNarrow, blocks);
    return blocks;
  };
}

/** Creates the masks of every layer, so that layers which are recomputed share them. */
export function createBlocks(
  config: DecoderConfig,
  blocks: (window: number) => readonly QueryBlock[],
): void {
  for (let layer = 0; layer < config.layers; layer++) blocks(windowOf(config, layer));
}

/**
 * Grouped-query attention over whole rows, in blocks of queries: a block computes no scores of keys behind it or before its window, which
 * are up to half of all. The G query heads of a key/value head are stacked along the query axis, so that keys and values need no copies
 * per head: [B, KV, G·t, d] against [B, KV, keys, d].
 *
 * @param q [B·T, H·d]. @param k [B·T, KV·d]. @param v [B·T, KV·d].
 * @returns [B·T, H·d].
 */
export function attendRows(
  config: DecoderConfig,
  { batch, length }: { batch: number; length: number },
  blocks: readonly QueryBlock[],
  { q, k, v }: { q: Value; k: Value; v: Value },
): Value {
  const { kvHeads, headDim } = config;
  const group = config.heads / kvHeads;
  const count = blocks.length;
  const size = length / count;
  // Blocks come first, so that one is a contiguous part.
  const apart = (x: Value, heads: readonly number[], perm: readonly number[]): readonly Value[] => {
    const turned = transpose(reshape(x, [batch, count, size, ...heads, headDim]), perm);
    const shape = turned.shape.slice(1);
    if (count === 1) return [reshape(turned, shape)];
    const ones = Array.from({ length: count }, () => 1);
    return split(turned, 0, ones).map((part) => reshape(part, shape));
  };
  const queries = apart(q, [kvHeads, group], [1, 0, 3, 4, 2, 5]);
  const keys = apart(k, [kvHeads], [1, 0, 3, 4, 2]); // [B, KV, d, t]
  const values = apart(v, [kvHeads], [1, 0, 3, 2, 4]); // [B, KV, t, d]
  const joined = (parts: readonly Value[], axis: number): Value =>
    parts.length === 1 ? parts[0]! : concat(parts, { axis });
  const mixed = blocks.map(({ first, mask }, i) => {
    const own = reshape(queries[i]!, [batch, kvHeads, group * size, headDim]);
    const seenKeys = joined(keys.slice(first, i + 1), 3);
    const seenValues = joined(values.slice(first, i + 1), 2);
    const result = attention(own, seenKeys, seenValues, mask);
    return reshape(result, [1, batch, kvHeads, group, size, headDim]);
  });
  const back = transpose(joined(mixed, 0), [1, 0, 4, 2, 3, 5]);
  return reshape(back, [batch * length, config.heads * headDim]);
}
