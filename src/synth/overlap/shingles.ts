import { wordsOf } from "../../text/words.ts";

/** 32-bit hashes of a text's words, in order; see `wordsOf`. */
export function wordHashes(text: string): number[] {
  return wordsOf(text).map(hashWord);
}

/** FNV-1a over UTF-16 units. */
export function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) {
    hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  }
  return mixed(hash);
}

/**
 * 32-bit hashes of the word n-grams, in order; one hash of all words if there are fewer than `n`.
 * @param words hashes of words.
 */
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

/** Mixes the bits: one changed bit changes all. */
function mixed(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}
