import { Encoder } from "flexsearch";
import type { Part } from "../base/registry.ts";
import { TermCache } from "./term-cache.ts";

/** Identifies an analyzer's output. Two equal specs produce equal terms for every text; an index stores its spec. */
export interface AnalyzerSpec {
  readonly name: string;
  /** Increases with every change that could change a term. */
  readonly version: number;
  /** Settings in words, for people and for comparison. */
  readonly options: Record<string, string | number | boolean>;
}

/** Text → terms; the same for passages and for queries. */
export interface Analyzer extends Part, AnalyzerSpec {
  /**
   * The terms of a text in order, with repetitions.
   * @example english.analyze("The Beatles' new songs") // ["beatl", "new", "song"]
   */
  analyze(text: string): string[];
  /** `analyze` without the cache, several times slower; tests compare the two. */
  encode(text: string): string[];
}

export interface AnalyzerRules {
  /** Unicode form and lower case; null: FlexSearch's default (NFKD, no accents, lower case). */
  readonly normalize: ((text: string) => string) | null;
  /** Separator of words: matches every ASCII character except letters and digits. */
  readonly separator: RegExp;
  /** Normalised words that produce no term. */
  readonly stopWords: ReadonlySet<string>;
  /** Longer words, in UTF-16 units after normalisation, produce no term: base64 and similar, which nobody searches for. */
  readonly longestWord: number;
  /** The terms of a normalised word that is not a stop word; empty ones are dropped. */
  readonly terms: (word: string) => readonly string[];
}

/** An analyzer's definition; `rules` is called at the first text, so that stemmers load only when needed. */
export interface AnalyzerDefinition extends Part, AnalyzerSpec {
  readonly rules: () => AnalyzerRules;
}

/** The `longestWord` of every analyzer whose terms are words. */
export const LONGEST_WORD = 255;

const WORD_START = /^[\p{L}\p{N}]/u;

/** Makes an analyzer; it loads and caches nothing before its first text. */
export function defineAnalyzer({ rules, ...part }: AnalyzerDefinition): Analyzer {
  let made: { encode: (text: string) => string[]; cache: TermCache } | null = null;
  const working = (): { encode: (text: string) => string[]; cache: TermCache } => {
    if (made !== null) return made;
    const loaded = rules();
    const encode = encoderOf(loaded);
    const cache = new TermCache({ encode, encodeWord: wordEncoderOf(loaded) });
    made = { encode, cache };
    return made;
  };
  return {
    ...part,
    analyze: (text) => working().cache.analyze(text),
    encode: (text) => working().encode(text),
  };
}

/**
 * FlexSearch's encoder without the options that change counts or merge words: splitting numbers into triples, folding
 * doubled letters, and dropping a word that equals the one before it ("Duran Duran"). The last one has no option, so a
 * capturing group in `split` keeps the separators as terms between the words, and they are filtered out. Its cache is off
 * because cached words skip the last rule: terms would depend on earlier texts.
 */
function encoderOf(rules: AnalyzerRules): (text: string) => string[] {
  const { normalize, separator } = rules;
  const encoder = new Encoder({
    normalize: normalize ?? true,
    split: new RegExp(`(${separator.source})`, separator.flags),
    numeric: false,
    dedupe: false,
    cache: false,
    maxlength: Number.MAX_SAFE_INTEGER,
    filter: (word) => WORD_START.test(word),
    finalize: (words) => words.flatMap((word) => termsOf(rules, word)),
  });
  return (text) => encoder.encode(text);
}

/** The same for one word of ASCII letters and digits. */
function wordEncoderOf(rules: AnalyzerRules): (word: string) => readonly string[] {
  const normalize = rules.normalize ?? ((word: string) => word.toLowerCase());
  return (word) => termsOf(rules, normalize(word));
}

function termsOf(
  { longestWord, stopWords, terms }: AnalyzerRules,
  word: string,
): readonly string[] {
  if (word.length > longestWord || stopWords.has(word)) return [];
  return terms(word).filter((term) => term !== "");
}
