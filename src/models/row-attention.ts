import { sizeOf, type Value } from "../autodiff/graph.ts";
import { attention } from "../autodiff/ops/composites.ts";
import { concat, expand, reshape, slice, split, transpose } from "../autodiff/ops/shape.ts";
import { windowOf, type DecoderConfig } from "./config.ts";

/** Most blocks of a long row: 8 leave out seven eighths of what any number could, and every block makes the graph larger. */
const MOST_BLOCKS = 8;

/** Queries per block: shorter blocks skip more of the invisible half, longer ones have larger products. */
const BLOCK = 128;

/** Number of equal blocks of a row's queries. A row of up to 64 tokens is one block. */
function blockCount(length: number): number {
  const least =
    length <= BLOCK ? Math.ceil(length / 64) : Math.min(MOST_BLOCKS, Math.ceil(length / BLOCK));
  const counts = Array.from({ length: least + 1 }, (_, i) => least + i);
  return counts.find((count) => length % count === 0) ?? 1;
}

/** What one block of queries sees: the blocks of keys from `first` up to its own, under a mask [t, keys]. */
interface QueryBlock {
  first: number;
  mask: Value;
}

/**
 * The blocks of each window size, created on first use.
 * @param masks as `causalMasks`, of `past` and `length` positions together.
 * @param past number of positions before the queries, whose keys every block sees, except where its mask hides them.
 */
export function queryBlocks(
  masks: (window: number) => Value,
  length: number,
  past = 0,
): (window: number) => readonly QueryBlock[] {
  const count = blockCount(length);
  const size = length / count;
  const made = new Map<number, readonly QueryBlock[]>();
  return (window) => {
    const seen = Math.min(window, past + length);
    const known = made.get(seen);
    if (known !== undefined) return known;
    const whole = masks(seen);
    const blocks = Array.from({ length: count }, (_, i): QueryBlock => {
      const first = past > 0 ? 0 : Math.max(0, Math.floor((i * size - seen + 1) / size));
      if (count === 1 && past === 0) return { first, mask: whole };
      const end = past + (i + 1) * size;
      const queries = slice(whole, 0, end - size, end);
      return { first, mask: slice(queries, 1, first * size, end) };
    });
    made.set(seen, blocks);
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
 * @param past keys and values [P, KV·d] each of a prefix of every row.
 * @returns [B·T, H·d].
 */
export function attendRows(
  config: DecoderConfig,
  { batch, length }: { batch: number; length: number },
  blocks: readonly QueryBlock[],
  { q, k, v, past }: { q: Value; k: Value; v: Value; past?: { k: Value; v: Value } },
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
  const shared = (x: Value, perm: readonly number[]): Value => {
    const tokens = sizeOf(x.shape) / (kvHeads * headDim);
    const turned = transpose(reshape(x, [1, tokens, kvHeads, headDim]), perm);
    return expand(turned, [batch, ...turned.shape.slice(1)]);
  };
  const before = {
    keys: past === undefined ? [] : [shared(past.k, [0, 2, 3, 1])],
    values: past === undefined ? [] : [shared(past.v, [0, 2, 1, 3])],
  };
  const mixed = blocks.map(({ first, mask }, i) => {
    const own = reshape(queries[i]!, [batch, kvHeads, group * size, headDim]);
    const seenKeys = joined([...before.keys, ...keys.slice(first, i + 1)], 3);
    const seenValues = joined([...before.values, ...values.slice(first, i + 1)], 2);
    const result = attention(own, seenKeys, seenValues, mask);
    return reshape(result, [1, batch, kvHeads, group, size, headDim]);
  });
  const back = transpose(joined(mixed, 0), [1, 0, 4, 2, 3, 5]);
  return reshape(back, [batch * length, config.heads * headDim]);
}
