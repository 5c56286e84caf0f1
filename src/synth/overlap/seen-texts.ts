import { growingArray } from "./growing-array.ts";
import { postings } from "./postings.ts";
import { shingles, wholeHash, wordHashes } from "./shingles.ts";

/** Texts that were seen, for telling whether another is as good as one of them. */
interface SeenTexts {
  /** Whether a text has the words of one that was seen, or nearly so; if not, it is seen from now on. */
  meets(text: string): "exact" | "near" | null;
}

/** Rows of words that are remembered of a text: all of a short one. */
const SKETCH = 128;

/** How far a share in two sketches may lie below that in the texts. */
const SLACK = 0.12;

/**
 * Compares texts by the rows of `words` words that they consist of: the share of both texts' rows that both have (Jaccard) must
 * reach `threshold`. Exact for texts of up to 128 different rows: whoever has that share with a text has one of its rarest few rows, so
 * only texts with those are looked at. Of longer texts the 128 rows with the smallest hashes stand for all, as a sample does.
 *
 * Memory: at most 2 kB a text, less for short ones.
 *
 * Source: resemblance and its sketches, Broder 1997; rare rows first as in prefix filtering, Chaudhuri et al. 2006.
 */
export function seenTexts({
  words: n,
  threshold,
}: {
  words: number;
  threshold: number;
}): SeenTexts {
  const whole = new Set<number>();
  const holders = postings();
  const rows = growingArray();
  const ends = growingArray();
  const sketchOfItem = (item: number): Uint32Array =>
    rows.slice(item === 0 ? 0 : ends.at(item - 1), ends.at(item));
  return {
    meets(text) {
      const words = wordHashes(text);
      const hash = wholeHash(words);
      if (whole.has(hash)) return "exact";
      const sketch = sketchOf(shingles(words, n));
      const looked = new Set<number>();
      for (const row of rarest(sketch, threshold, (row) => holders.count(row))) {
        for (const item of holders.items(row)) {
          if (looked.has(item)) continue;
          looked.add(item);
          if (resemblance(sketch, sketchOfItem(item)) >= threshold) return "near";
        }
      }
      whole.add(hash);
      const item = ends.length;
      for (const row of sketch) {
        rows.push(row);
        holders.add(row, item);
      }
      ends.push(rows.length);
      return null;
    },
  };
}

/** Different rows in ascending order, as many as are remembered. */
function sketchOf(rows: readonly number[]): Uint32Array {
  return Uint32Array.from(new Set(rows)).sort().slice(0, SKETCH);
}

/** So many of a text's rows that whoever resembles it enough has one of them: those that fewest others have. */
function rarest(sketch: Uint32Array, threshold: number, count: (row: number) => number): number[] {
  const needed = sketch.length < SKETCH ? threshold : threshold - SLACK;
  const enough = sketch.length - Math.ceil(needed * sketch.length) + 1;
  return Array.from(sketch, (row) => ({ row, count: count(row) }))
    .sort((a, b) => a.count - b.count || a.row - b.row)
    .slice(0, enough)
    .map(({ row }) => row);
}

/** Share of the smallest rows of both that both have; of all rows where both texts are short. */
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
