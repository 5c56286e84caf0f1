/**
 * Analyzers of single languages: words, stop words dropped, Snowball's stems.
 *
 * Order, as in Lucene's analyzers of the same names: words → lower case → stop words → stem. Stop words and stemmers
 * expect accents, so these are dropped last, from the stems, but for letters that a language counts as its own.
 *
 * Different from Lucene: it leaves accents that a stemmer left; it has light stemmers of its own for German, French,
 * Spanish, Italian and Portuguese, where these are Snowball's; it cuts l' and qu' off French and Italian words and the
 * case ending after the apostrophe off Turkish ones, where here the apostrophe ends a word and the small words are stop
 * words (Turkish endings stay as words).
 *
 * Stemmers: @orama/stemmers 3.1, which are Snowball 2.2's algorithms (Snowball 3's differ in German, Dutch and the
 * Scandinavian languages). Stop words: @orama/stopwords 3.1 where its list is Snowball's; its Spanish list holds content
 * words, its Turkish one words in a wrong encoding, its Arabic one nouns, so these have a short list or none.
 */
import { createRequire } from "node:module";
import { type Analyzer, defineAnalyzer, LONGEST_WORD } from "./define-analyzer.ts";
import { composed, foldAccents, WORD_SEPARATOR } from "./fold.ts";

// Loaded at an analyzer's first text: all together they take longer to load than `agentrl --help` takes to print.
const require: (name: string) => unknown = createRequire(import.meta.url);

interface Stemmer {
  stemmer: (word: string) => string;
}

interface StopWords {
  stopwords: readonly string[];
}

interface Language {
  name: string;
  /** Loads the stemmer. */
  stemmer: () => unknown;
  /** Loads Snowball's list, or is a list of ours; none when left out. */
  stopWords?: (() => unknown) | readonly string[];
  /** Letters with a mark that are letters of their own; their marks stay. */
  letters?: string;
  lowerCase?: (text: string) => string;
}

/** The commonest articles, pronouns, prepositions and conjunctions, ours. */
const SPANISH_STOP_WORDS = (
  "a al ante bajo cada como con contra cual cuando de del desde donde durante e el ella ellas ellos en entre era es esa " +
  "ese eso esta este esto fue ha hacia hasta la las le les lo los más me mi muy ni no nos o para pero por porque que se " +
  "según ser si sin sobre son su sus también te tu u un una uno unos unas y ya yo él"
).split(" ");

function rootLowerCase(text: string): string {
  return text.toLowerCase();
}

/** I is the capital of ı and İ that of i. The composed text has no İ in two parts. */
function turkishLowerCase(text: string): string {
  return text.replaceAll("İ", "i").replaceAll("I", "ı").toLowerCase();
}

const LANGUAGES: readonly Language[] = [
  {
    name: "arabic",
    stemmer: () => require("@orama/stemmers/arabic"),
  },
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

/** All analyzers of single languages but English. */
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
