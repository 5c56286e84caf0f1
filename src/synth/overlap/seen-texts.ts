import { wordsOf } from "../../text/words.ts";

/** 32-bit hashes of a text's words, in order; see `wordsOf`. */
export function wordHashes(text: string): number[] {
  return wordsOf(text).map(hashWord);
}

/** FNV-1a over UTF-16 units. */
export function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return mixed(hash);
}

/** 32-bit hashes of the n-grams of word hashes, in order; one hash of all words if there are fewer than `n`. */
export function shingles(words: readonly number[], n: number): number[] {
  if (words.length === 0) return [];
  const count = Math.max(1, words.length - n + 1);
  return Array.from({ length: count }, (_, i) => hashAll(words, i, Math.min(i + n, words.length)));
}

/** 53-bit hash of a text's words in order. */
export function wholeHash(words: readonly number[]): number {
  const low = hashAll(words);
  const high = hashAll(words.map((word) => mixed(word ^ 0x5bd1e995)));
  return low * 0x200000 + (high >>> 11);
}

function hashAll(words: readonly number[], from = 0, to = words.length): number {
  let hash = 0x9e3779b9;
  for (let i = from; i < to; i++) hash = mixed(Math.imul(hash, 0x01000193) ^ (words[i] ?? 0));
  return hash;
}

function mixed(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

interface SeenTexts {
  /** Whether an earlier text has the same words, or nearly the same; if not, the text is added. */
  meets(text: string): "exact" | "near" | null;
}

/** Most word n-grams that are kept of a text. */
const SKETCH = 128;

/** A product may be slightly too large: 0.55 · 100 is 55.00000000000001. */
const ROUNDING = 1e-9;

/** Texts with an n-gram, by index; most n-grams have one. */
type Holders = number | number[] | undefined;

/** One Map holds at most 2²⁴ keys, and a hundred thousand long texts have as many n-grams. A power of two. */
const SHARDS = 16;

/** 16 MB; at a hundred thousand long texts one bit in ten is set. */
const ROW_BITS = 27;

/**
 * Compares texts by the Jaccard similarity (`threshold`) of their n-grams of `words` words. Exact up to 128 different n-grams: similar texts
 * share one of the rarest few, so only those are compared. Of longer texts the 128 smallest hashes are the sample. About 6 kB and 0.2 ms a
 * text. Source: resemblance and its sketches, Broder 1997; rare n-grams first as in prefix filtering, Chaudhuri et al. 2006.
 */
export function seenTexts(options: { words: number; threshold: number }): SeenTexts {
  const { words: n, threshold } = options;
  const whole = new Set<number>();
  const sketches: Uint32Array[] = [];
  // Signed keys, which V8 stores without a heap number.
  const shards = Array.from({ length: SHARDS }, () => new Map<number, number | number[]>());
  const shardOf = (row: number) => shards[row & (SHARDS - 1)] ?? new Map<number, never>();
  // A bit for the low bits of a row: most rows of a new text are new, and a look-up in a large Map costs far more than this one.
  const bits = new Uint32Array(2 ** (ROW_BITS - 5));
  const isNew = (row: number): boolean => ((bits[lowBits(row) >>> 5] ?? 0) & (1 << row)) === 0;
  const hold = (row: number, item: number): void => {
    const word = lowBits(row) >>> 5;
    bits[word] = (bits[word] ?? 0) | (1 << row);
    const shard = shardOf(row);
    const items = shard.get(row | 0);
    if (items === undefined) shard.set(row | 0, item);
    else if (typeof items === "number") shard.set(row | 0, [items, item]);
    else items.push(item);
  };
  /** Most n-grams of a similar text are shared, in sketches as well: where both are cut, of the 128 that are compared. */
  const fewestShared = ({ length }: Uint32Array): number =>
    Math.ceil(threshold * length - ROUNDING);
  return {
    meets(text) {
      const words = wordHashes(text);
      const hash = wholeHash(words);
      if (whole.has(hash)) return "exact";
      const sketch = sketchOf(words, n);
      // A similar text has one of any so many n-grams.
      const enough = sketch.length - fewestShared(sketch) + 1;
      if (sketch.filter(isNew).length < enough) {
        const holders = Array.from(sketch, (row) => shardOf(row).get(row | 0));
        for (const item of new Set(rarest(holders, enough)))
          if (resemblance(sketch, sketches[item] ?? sketch) >= threshold) return "near";
      }
      whole.add(hash);
      const item = sketches.push(sketch) - 1;
      for (const row of sketch) hold(row, item);
      return null;
    },
  };
}

function lowBits(row: number): number {
  return row & (2 ** ROW_BITS - 1);
}

function sketchOf(words: readonly number[], n: number): Uint32Array {
  const rows = Uint32Array.from(shingles(words, n)).sort();
  let kept = 0;
  for (let i = 0; i < rows.length && kept < SKETCH; i++) {
    const row = rows[i] ?? 0;
    if (i === 0 || row !== rows[i - 1]) rows[kept++] = row;
  }
  return rows.slice(0, kept);
}

/** Texts with one of the `count` n-grams that the fewest have. @param holders of each n-gram. */
function rarest(holders: readonly Holders[], count: number): number[] {
  const unseen = holders.filter((items) => items === undefined).length;
  if (unseen >= count) return [];
  // Size and position in one number: typed arrays sort without a comparison function.
  const order = Float64Array.from(holders, (items, i) => sizeOf(items) * SKETCH + i).sort();
  return Array.from(order.subarray(unseen, count), (each) => holders[each % SKETCH] ?? []).flat();
}

function sizeOf(items: Holders): number {
  return typeof items === "object" ? items.length : items === undefined ? 0 : 1;
}

/** Jaccard similarity of the smallest n-grams of both texts; of all n-grams if both texts are short. */
function resemblance(a: Uint32Array, b: Uint32Array): number {
  const isCut = a.length === SKETCH || b.length === SKETCH;
  const limit = isCut ? SKETCH : Infinity;
  let i = 0;
  let j = 0;
  let both = 0;
  let all = 0;
  while ((i < a.length || j < b.length) && all < limit) {
    const left = a[i] ?? Infinity;
    const right = b[j] ?? Infinity;
    if (left === right) both += 1;
    if (left <= right) i += 1;
    if (right <= left) j += 1;
    all += 1;
  }
  return all === 0 ? 0 : both / all;
}
