import { Encoder } from "flexsearch";
import type { Part } from "../base/registry.ts";
import { TermCache } from "./term-cache.ts";

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
  /** The same by the encoder alone, several times slower: what `analyze` is checked against. */
  encode(text: string): string[];
}

/** What an analyzer does. */
export interface AnalyzerRules {
  /** Unicode form and lower case; FlexSearch's own when null: NFKD, accents dropped, lower case. */
  readonly normalize: ((text: string) => string) | null;
  /** What stands between words; none matches an ASCII letter or digit, each other ASCII character matches. */
  readonly separator: RegExp;
  /** Normalised words that give no term. */
  readonly stopWords: ReadonlySet<string>;
  /** Longer words, in UTF-16 units once normalised, give no term: base64 and the like, which nobody searches for. */
  readonly longestWord: number;
  /** The terms of a normalised word that is no stop word; empty ones are dropped. */
  readonly terms: (word: string) => readonly string[];
}

/** An analyzer before it is made; `rules` is asked for them at the first text, so that stemmers load when needed. */
export interface AnalyzerDefinition extends Part, AnalyzerSpec {
  readonly rules: () => AnalyzerRules;
}

/** The limit of every analyzer whose terms are words. */
export const LONGEST_WORD = 255;

const WORD_START = /^[\p{L}\p{N}]/u;

/** Makes an analyzer; nothing is loaded or remembered before its first text. */
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
 * FlexSearch's encoder with everything off that changes counts or merges words: it splits numbers into triples, folds
 * doubled letters, and drops a word that equals the one before it ("Duran Duran"). The last has no switch, so the
 * separators are kept as terms between the words, by a capturing group in `split`, and filtered out. Its cache is off
 * because a cached word escapes the last rule: terms would depend on what was encoded a moment ago.
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
