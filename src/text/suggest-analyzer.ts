import { francAll } from "franc";

/** Which analyzer fits some texts. */
export interface AnalyzerAdvice {
  /** null: none separates the words of this script. */
  analyzer: string | null;
  /** What was found, for a message: "most letters are Chinese, Japanese or Korean". */
  found: string;
}

/** ISO 639-3 code → analyzer. The other languages that are recognised fit `plain`. */
const ANALYZER_OF: Readonly<Record<string, string>> = {
  eng: "english",
  sco: "english",
  arb: "arabic",
  dan: "danish",
  deu: "german",
  fin: "finnish",
  fra: "french",
  ita: "italian",
  nld: "dutch",
  nno: "norwegian",
  nob: "norwegian",
  por: "portuguese",
  rus: "russian",
  spa: "spanish",
  swe: "swedish",
  tur: "turkish",
};

/** Fewer letters say nothing about a language. */
const FEWEST_LETTERS = 100;
/** From this share of letters on, a script without spaces decides. */
const SCRIPT_SHARE = 0.3;
/** Longer runs of characters on average: words are not separated by spaces. Segmented Chinese has about 2 to a word. */
const LONGEST_WORD_RUN = 4;
/** A language that scores this share of the best one's may be it: Galician beside Portuguese, texts full of names. */
const CLOSE = 0.97;

const CJK = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]+/gu;
const UNSPACED = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]/gu;

/**
 * The analyzer that some texts need, where another would find little or nothing in them.
 * @param current the analyzer in use.
 * @returns null: `current` fits, or the texts are too short to tell.
 */
export function suggestAnalyzer(texts: readonly string[], current: string): AnalyzerAdvice | null {
  const text = texts.join("\n");
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const runs = text.match(CJK) ?? [];
  const inRuns = runs.reduce((sum, run) => sum + run.length, 0);
  // Few characters of these scripts already are sentences.
  if (inRuns >= Math.max(2, SCRIPT_SHARE * letters)) {
    const isSegmented = inRuns / runs.length <= LONGEST_WORD_RUN && letters >= FEWEST_LETTERS;
    return current === "cjk" || (isSegmented && current === "plain")
      ? null
      : { analyzer: "cjk", found: "most letters are Chinese, Japanese or Korean" };
  }
  if ((text.match(UNSPACED)?.length ?? 0) >= Math.max(2, SCRIPT_SHARE * letters)) {
    const found = "most letters are of a script without spaces between words";
    return { analyzer: null, found };
  }
  return letters < FEWEST_LETTERS ? null : languageAdvice(text, current);
}

function languageAdvice(text: string, current: string): AnalyzerAdvice | null {
  const ranked = francAll(text, { minLength: FEWEST_LETTERS });
  const [best] = ranked;
  if (best === undefined || best[0] === "und" || current === "plain") return null;
  const close = ranked.filter(([, score]) => score >= CLOSE).map(([code]) => code);
  if (close.some((code) => ANALYZER_OF[code] === current)) return null;
  const code = close.find((each) => each in ANALYZER_OF) ?? best[0];
  const language = new Intl.DisplayNames("en", { type: "language" }).of(code) ?? code;
  return { analyzer: ANALYZER_OF[code] ?? "plain", found: `the language looks like ${language}` };
}

/** Texts spread over a stream of unknown length, each cut: at most 64. */
export class TextSample {
  #texts: string[] = [];
  #every = 1;
  #seen = 0;

  add(text: string): void {
    if (this.#seen++ % this.#every !== 0) return;
    this.#texts.push(text.slice(0, 500));
    if (this.#texts.length < 64) return;
    this.#texts = this.#texts.filter((_, i) => i % 2 === 0);
    this.#every *= 2;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }
}
