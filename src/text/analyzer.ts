import { registry } from "../base/registry.ts";
import { cjk } from "./cjk.ts";
import { type Analyzer, defineAnalyzer, LONGEST_WORD } from "./define-analyzer.ts";
import { languages } from "./languages.ts";
import { porterStem } from "./porter.ts";

export type { Analyzer } from "./define-analyzer.ts";

const separator = /[^\p{L}\p{N}]+/u;

/** Lucene's English stop words: few, and none that occur in names ("new", "who" and "us" stay searchable). */
const STOP_WORDS = new Set(
  (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they " +
    "this to was will with"
  ).split(" "),
);

/** English (the default): lower case without accents, no stop words, Porter stems. */
export const english: Analyzer = defineAnalyzer({
  name: "english",
  summary: "English: accents and stop words dropped, Porter stems.",
  version: 1,
  options: { words: "letters and digits", stopWords: "lucene-english-33", stemmer: "porter" },
  rules: () => ({
    normalize: null,
    separator,
    stopWords: STOP_WORDS,
    longestWord: LONGEST_WORD,
    terms: (word) => [porterStem(word)],
  }),
});

/** Any language with spaces between words: lower case without accents, every word kept. */
export const plain: Analyzer = defineAnalyzer({
  name: "plain",
  summary: "Any language with spaces: accents dropped, every word kept.",
  version: 1,
  options: { words: "letters and digits", stopWords: "none", stemmer: "none" },
  rules: () => ({
    normalize: null,
    separator,
    stopWords: new Set(),
    longestWord: LONGEST_WORD,
    terms: (word) => [word],
  }),
});

/** Where nothing else is said. */
export const DEFAULT_ANALYZER = "english";

export const analyzers = registry<Analyzer>("analyzer", [english, plain, ...languages, cjk]);
