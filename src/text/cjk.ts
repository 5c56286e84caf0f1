import { type Analyzer, defineAnalyzer, LONGEST_WORD } from "./define-analyzer.ts";
import { composed, foldAccents, WORD_SEPARATOR } from "./fold.ts";

/** A run of Chinese, Japanese or Korean writing, or a run of anything else. */
const RUNS = /([\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]+)/u;

/**
 * Chinese, Japanese and Korean, which do not separate words by spaces: every two neighbouring characters are a term,
 * and so is a single character. Words of other scripts as in `plain`.
 *
 * Source: Lucene's CJKAnalyzer, its bigrams over Han, Hiragana, Katakana and Hangul. Different here: English stop words
 * are kept, accents of Latin letters are dropped, and NFKC is applied in full, not only to the width of letters.
 *
 * @example cjk.analyze("東京大学 in Tokyo, 東") // ["東京", "京大", "大学", "in", "tokyo", "東"]
 */
export const cjk: Analyzer = defineAnalyzer({
  name: "cjk",
  summary: "Chinese, Japanese, Korean: pairs of characters; other words as in plain.",
  version: 1,
  options: {
    words: "bigrams of Han, Hiragana, Katakana, Hangul; else letters, marks and digits",
    stopWords: "none",
    stemmer: "none",
  },
  rules: () => ({
    normalize: (text) => composed(text).toLowerCase(),
    separator: WORD_SEPARATOR,
    stopWords: new Set(),
    longestWord: Infinity, // a text without spaces is one word; its bigrams are short
    terms: (word) =>
      word.split(RUNS).flatMap((run, i) => (i % 2 === 1 ? bigrams(run) : other(run))),
  }),
});

function bigrams(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, i) => `${characters[i] ?? ""}${character}`);
}

function other(word: string): string[] {
  return word.length > LONGEST_WORD ? [] : [foldAccents(word)];
}
