import { random, type Random } from "../../src/base/random.ts";
import type { Passage } from "../../src/trajectory/task.ts";

/** How `madeCorpus` draws. */
export interface MadeCorpusOptions {
  count: number;
  seed: number | string;
  /** Distinct words, the first ones far more frequent: uniform draws to the power of `skew`. */
  words?: number;
  skew?: number;
  /** Most words per passage; some have none. */
  longest?: number;
  /** In front of the numbers that are ids. */
  prefix?: string;
}

/** Passages of made-up words `w0`, `w1`, …: `w0` in most of them, the last ones in few. */
export function madeCorpus(options: MadeCorpusOptions): Passage[] {
  const { count, seed, words = 500, skew = 3, longest = 12, prefix = "p" } = options;
  const draw = random(seed);
  return Array.from({ length: count }, (_, i) => ({
    id: `${prefix}${i}`,
    title: draw.int(4) === 0 ? "" : `title ${drawWord(draw, words, skew)}`,
    text: Array.from({ length: draw.int(longest + 1) }, () => drawWord(draw, words, skew)).join(
      " ",
    ),
  }));
}

/** Queries of one to five of the words, with words that a query repeats and words that no passage has. */
export function madeQueries(
  count: number,
  { seed, words = 500, skew = 2 }: { seed: number | string; words?: number; skew?: number },
): string[] {
  const draw = random(seed);
  return Array.from({ length: count }, () => {
    const terms = Array.from({ length: 1 + draw.int(5) }, () => drawWord(draw, words, skew));
    if (draw.int(4) === 0) terms.push(terms[0]!);
    if (draw.int(4) === 0) terms.push("unheard");
    return terms.join(" ");
  });
}

function drawWord(draw: Random, words: number, skew: number): string {
  return `w${Math.floor(draw.next() ** skew * words)}`;
}
