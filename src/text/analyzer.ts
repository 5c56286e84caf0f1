import { Encoder } from "flexsearch";
import { type Part, registry } from "../base/registry.ts";
import { porterStem } from "./porter.ts";

/** What made an index's terms. Two equal specs give equal terms for every text; an index stores it. */
export interface AnalyzerSpec {
  readonly name: string;
  /** Grows with every change that could change a term. */
  readonly version: number;
  /** Settings in words, for people and for comparison. */
  readonly options: Record<string, string | number | boolean>;
}

/** Text → terms, the same way for passages and for queries. */
export interface Analyzer extends Part, AnalyzerSpec {
  /**
   * The terms of a text in order, repetitions kept.
   * @example english.analyze("The Beatles' new songs") // ["beatl", "new", "song"]
   */
  analyze(text: string): string[];
}

/** Lucene's English stop words: few, and none that names are made of ("new", "who" and "us" stay searchable). */
const STOP_WORDS = new Set(
  (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they " +
    "this to was will with"
  ).split(" "),
);

/** English text: lower case without accents, stop words dropped, Porter's stems. The default. */
export const english: Analyzer = defineAnalyzer({
  name: "english",
  summary: "English: accents and stop words dropped, Porter stems.",
  version: 1,
  stopWords: STOP_WORDS,
  stem: porterStem,
  options: { words: "letters and digits", stopWords: "lucene-english-33", stemmer: "porter" },
});

/** Any language that puts spaces between words: lower case without accents, every word kept as it is. */
export const plain: Analyzer = defineAnalyzer({
  name: "plain",
  summary: "Any language with spaces: accents dropped, every word kept.",
  version: 1,
  stopWords: new Set(),
  stem: null,
  options: { words: "letters and digits", stopWords: "none", stemmer: "none" },
});

/** All analyzers. */
export const analyzers = registry<Analyzer>("analyzer", [english, plain]);

interface AnalyzerParts extends Part, AnalyzerSpec {
  stopWords: ReadonlySet<string>;
  stem: ((word: string) => string) | null;
}

/** Terms longer than this are dropped: base64 and the like, which nobody searches for. */
const LONGEST_TERM = 255;

/** Stems are remembered for this many words, then forgotten and begun anew. */
const REMEMBERED_STEMS = 200_000;

/**
 * FlexSearch's encoder with everything off that changes counts or merges words: it splits numbers into triples, folds
 * doubled letters, and drops a word that equals the one before it ("Duran Duran"). The last has no switch, so the
 * separators are kept as terms between the words, by a capturing group in `split`, and filtered out. Its cache is off
 * because a cached word escapes the last rule: terms would depend on what was encoded a moment ago.
 */
function defineAnalyzer({ stopWords, stem, ...part }: AnalyzerParts): Analyzer {
  const remembered = new Map<string, string>();
  const stemOf = (word: string): string => {
    if (stem === null) return word;
    let result = remembered.get(word);
    if (result === undefined) {
      if (remembered.size >= REMEMBERED_STEMS) remembered.clear();
      result = stem(word);
      remembered.set(word, result);
    }
    return result;
  };
  const encoder = new Encoder({
    normalize: true,
    split: /([^\p{L}\p{N}]+)/u,
    numeric: false,
    dedupe: false,
    cache: false,
    maxlength: Number.MAX_SAFE_INTEGER,
    filter: (word) =>
      word.length <= LONGEST_TERM && /^[\p{L}\p{N}]/u.test(word) && !stopWords.has(word),
    finalize: (words) => words.map(stemOf),
  });
  return { ...part, analyze: (text) => encoder.encode(text) };
}
