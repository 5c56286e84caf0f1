/**
 * Analyzers of single languages: words without stop words, Snowball stems.
 *
 * Order, as in Lucene's analyzers of the same names: words → lower case → stop words → stem. Stop words and stemmers
 * expect accents, so accents are dropped from the stems, except on letters that the language treats as its own.
 *
 * Differences from Lucene: Lucene keeps accents that a stemmer left; it has its own light stemmers for German, French,
 * Spanish, Italian and Portuguese, where this file uses Snowball's; it removes l' and qu' from French and Italian words and the
 * case ending after the apostrophe from Turkish ones. Here the apostrophe ends a word, and the small words are stop
 * words (Turkish endings remain words).
 *
 * Stemmers: @orama/stemmers 3.1, which implement Snowball 2.2 (Snowball 3 differs in German, Dutch and the
 * Scandinavian languages). Stop words: @orama/stopwords 3.1 where its list is Snowball's; its Spanish list contains content
 * words, its Turkish list has a wrong encoding, its Arabic list contains nouns, so these languages have a short list or none.
 */
import { createRequire } from "node:module";
import { type Analyzer, defineAnalyzer, LONGEST_WORD } from "./define-analyzer.ts";
import { composed, foldAccents, WORD_SEPARATOR } from "./fold.ts";

// Loaded at an analyzer's first text, because loading all of them takes longer than `agentrl --help`.
const require: (name: string) => unknown = createRequire(import.meta.url);

interface Stemmer {
  stemmer: (word: string) => string;
}

interface StopWords {
  stopwords: readonly string[];
}

interface Language {
  name: string;
  stemmer: () => unknown;
  /** Loads Snowball's list, or is our own list; absent: no stop words. */
  stopWords?: (() => unknown) | readonly string[];
  /** Accented letters that the language treats as its own; they keep their accents. */
  letters?: string;
  lowerCase?: (text: string) => string;
}

/** The most frequent articles, pronouns, prepositions and conjunctions (our own list). */
const SPANISH_STOP_WORDS = (
  "a al ante bajo cada como con contra cual cuando de del desde donde durante e el ella ellas ellos en entre era es esa " +
  "ese eso esta este esto fue ha hacia hasta la las le les lo los más me mi muy ni no nos o para pero por porque que se " +
  "según ser si sin sobre son su sus también te tu u un una uno unos unas y ya yo él"
).split(" ");

function rootLowerCase(text: string): string {
  return text.toLowerCase();
}

/** Turkish pairs I with ı and İ with i. NFC text has no decomposed İ. */
function turkishLowerCase(text: string): string {
  return text.replaceAll("İ", "i").replaceAll("I", "ı").toLowerCase();
}

const LANGUAGES: readonly Language[] = [
  { name: "arabic", stemmer: () => require("@orama/stemmers/arabic") },
  {
    name: "danish",
    letters: "å",
    stemmer: () => require("@orama/stemmers/danish"),
    stopWords: () => require("@orama/stopwords/danish"),
  },
  {
    name: "dutch",
    stemmer: () => require("@orama/stemmers/dutch"),
    stopWords: () => require("@orama/stopwords/dutch"),
  },
  {
    name: "finnish",
    letters: "åäö",
    stemmer: () => require("@orama/stemmers/finnish"),
    stopWords: () => require("@orama/stopwords/finnish"),
  },
  {
    name: "french",
    stemmer: () => require("@orama/stemmers/french"),
    stopWords: () => require("@orama/stopwords/french"),
  },
  {
    name: "german",
    stemmer: () => require("@orama/stemmers/german"),
    stopWords: () => require("@orama/stopwords/german"),
  },
  {
    name: "italian",
    stemmer: () => require("@orama/stemmers/italian"),
    stopWords: () => require("@orama/stopwords/italian"),
  },
  {
    name: "norwegian",
    letters: "å",
    stemmer: () => require("@orama/stemmers/norwegian"),
    stopWords: () => require("@orama/stopwords/norwegian"),
  },
  {
    name: "portuguese",
    stemmer: () => require("@orama/stemmers/portuguese"),
    stopWords: () => require("@orama/stopwords/portuguese"),
  },
  {
    name: "russian",
    letters: "й",
    stemmer: () => require("@orama/stemmers/russian"),
    stopWords: () => require("@orama/stopwords/russian"),
  },
  {
    name: "spanish",
    letters: "ñ",
    stemmer: () => require("@orama/stemmers/spanish"),
    stopWords: SPANISH_STOP_WORDS,
  },
  {
    name: "swedish",
    letters: "åäö",
    stemmer: () => require("@orama/stemmers/swedish"),
    stopWords: () => require("@orama/stopwords/swedish"),
  },
  {
    name: "turkish",
    letters: "çğöşü",
    stemmer: () => require("@orama/stemmers/turkish"),
    lowerCase: turkishLowerCase,
  },
];

/** All analyzers of single languages except English. */
export const languages: readonly Analyzer[] = LANGUAGES.map(defineLanguage);

function defineLanguage(language: Language): Analyzer {
  const { name, letters = "", stopWords, lowerCase = rootLowerCase } = language;
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const dropped = stopWords === undefined ? "accents" : "accents and stop words";
  return defineAnalyzer({
    name,
    summary: `${title}: ${dropped} dropped, Snowball stems.`,
    version: 1,
    options: {
      words: "letters, marks and digits",
      stopWords: listName(name, stopWords),
      stemmer: `snowball-2.2-${name}`,
      accents:
        letters === "" ? "dropped after stemming" : `dropped after stemming but in ${letters}`,
    },
    rules: () => {
      const { stemmer } = language.stemmer() as Stemmer;
      return {
        normalize: (text) => lowerCase(composed(text)),
        separator: WORD_SEPARATOR,
        stopWords: new Set(wordsOf(stopWords)),
        longestWord: LONGEST_WORD,
        terms: (word) => [foldAccents(stemmer(word), letters)],
      };
    },
  });
}

function listName(language: string, stopWords: Language["stopWords"]): string {
  if (stopWords === undefined) return "none";
  return typeof stopWords === "function"
    ? `orama-3.1.18-${language}`
    : `agentrl-${language}-${stopWords.length}`;
}

function wordsOf(stopWords: Language["stopWords"] = []): readonly string[] {
  return typeof stopWords === "function" ? (stopWords() as StopWords).stopwords : stopWords;
}
