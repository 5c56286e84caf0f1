import { shingles, wholeHash, wordHashes } from "./shingles.ts";

/** Texts that were seen, to find equal or nearly equal ones. */
interface SeenTexts {
  /** Whether an earlier text has the same words, or nearly the same; if not, the text is added. */
  meets(text: string): "exact" | "near" | null;
}

/** Most word n-grams that are kept of a text. */
const SKETCH = 128;

/** Largest error by which the share in two sketches may be below the share in the texts. */
const SLACK = 0.12;

/** One Map holds at most 2²⁴ keys, and a hundred thousand long texts have as many n-grams. A power of two. */
const SHARDS = 16;

/**
 * Compares texts by their n-grams of `words` words: their Jaccard similarity must reach `threshold`. Exact for texts of up to 128 different
 * n-grams: similar texts share one of the rarest few n-grams, so only texts with these are compared. Of longer texts the 128 n-grams with
 * the smallest hashes are the sample.
 *
 * Memory: about 6 kB a text of 120 words. Time: 0.2 ms a text, at a hundred thousand.
 *
 * Source: resemblance and its sketches, Broder 1997; rare n-grams first as in prefix filtering, Chaudhuri et al. 2006.
 */
export function seenTexts({
  words: n,
  threshold,
}: {
  words: number;
  threshold: number;
}): SeenTexts {
  const whole = new Set<number>();
  const sketches: Uint32Array[] = [];
  // Indices of the texts with an n-gram; most n-grams have one. Signed keys, which V8 stores without a heap number.
  const shards = Array.from({ length: SHARDS }, () => new Map<number, number | number[]>());
  const shardOf = (row: number) => shards[row & (SHARDS - 1)] ?? new Map<number, never>();
  const holding = (row: number): readonly number[] => {
    const items = shardOf(row).get(row | 0) ?? [];
    return typeof items === "number" ? [items] : items;
  };
  const hold = (row: number, item: number): void => {
    const shard = shardOf(row);
    const items = shard.get(row | 0);
    if (items === undefined) shard.set(row | 0, item);
    else if (typeof items === "number") shard.set(row | 0, [items, item]);
    else items.push(item);
  };
  return {
    meets(text) {
      const words = wordHashes(text);
      const hash = wholeHash(words);
      if (whole.has(hash)) return "exact";
      const sketch = Uint32Array.from(new Set(shingles(words, n)))
        .sort()
        .slice(0, SKETCH);
      const needed = sketch.length < SKETCH ? threshold : threshold - SLACK;
      const enough = sketch.length - Math.ceil(needed * sketch.length) + 1;
      const rarest = Array.from(sketch, holding).sort((a, b) => a.length - b.length);
      for (const item of new Set(rarest.slice(0, enough).flat())) {
        if (resemblance(sketch, sketches[item] ?? sketch) >= threshold) return "near";
      }
      whole.add(hash);
      const item = sketches.push(sketch) - 1;
      for (const row of sketch) hold(row, item);
      return null;
    },
  };
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
