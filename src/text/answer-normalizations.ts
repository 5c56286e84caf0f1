/**
 * Normalisations of answers for comparison. The field uses several, and they give different scores on
 * one file ("acid-house" equals "acid house" in some only), so every scorer names the one it applies.
 */
import { type Part, registry } from "../base/registry.ts";

/** Names of the normalisations, as flags and results spell them. */
export type Normalization = "squad" | "words" | "triviaqa" | "drop";

interface AnswerNormalization extends Part {
  readonly name: Normalization;
  readonly source: string;
  apply(text: string): string;
}

export const normalizations = registry<AnswerNormalization>("normalization", [
  {
    name: "squad",
    summary: "Lower-case, ASCII punctuation deleted, a, an, the dropped, white space squeezed.",
    source: "the evaluation scripts of SQuAD v1.1 and HotpotQA",
    apply: (text) => withoutArticles(text.toLowerCase().replace(ASCII_PUNCTUATION, "")),
  },
  {
    name: "words",
    summary:
      "A whole answer True or False is yes or no; lower-case, ASCII punctuation and ‘ ’ ´ become spaces, articles dropped.",
    // R1-Searcher matches True and False only without surrounding spaces, and so does this.
    source: "RUCAIBox/R1-Searcher, its evaluation's normalize_answer",
    apply: (text) => spelledApart(readBoolean(text)),
  },
  {
    name: "triviaqa",
    summary: "Lower-case, ASCII punctuation and ‘ ’ ´ become spaces, articles dropped.",
    source: "TriviaQA's evaluation utilities",
    apply: spelledApart,
  },
  {
    name: "drop",
    summary:
      "Split at spaces and hyphens; each part lower-case, a number as Python writes it (7 → 7.0), else without ASCII punctuation and articles.",
    source: "AllenNLP's DROP evaluation, also used by IRCoT",
    apply: (text) => text.split(/[ -]/).map(dropToken).filter(Boolean).join(" "),
  },
]);

/**
 * Normalises an answer for comparison.
 *
 * @example normalizeAnswer("The  St. Louis-Cup!")          // "st louiscup"
 * @example normalizeAnswer("The  St. Louis-Cup!", "words") // "st louis cup"
 * @example normalizeAnswer("1,000 St. Louis-Cups", "drop") // "1000.0 st louis cups"
 */
export function normalizeAnswer(text: string, normalization: Normalization = "squad"): string {
  return normalizations.get(normalization, "normalization").apply(text);
}

/**
 * Whether Python's `float` parses a text, including "nan" and "infinity": DROP's definition of a number.
 * Different here: only ASCII digits.
 */
export function isPythonNumber(text: string): boolean {
  return PYTHON_NUMBER.test(text);
}

const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/g;
const WORD_PUNCTUATION = /[!-/:-@[-`{-~‘’´]/g;
// Articles as whole words. \b knows only ASCII letters: it would remove the last letter of "açaí a" and "Ça".
const ARTICLES = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;
const SPACES = /\p{White_Space}+/gu;
const PYTHON_NUMBER =
  /^\s*[+-]?(?:(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?|inf(?:inity)?|nan)\s*$/i;

function withoutArticles(text: string): string {
  return text.replace(ARTICLES, " ").replace(SPACES, " ").trim();
}

function spelledApart(text: string): string {
  return withoutArticles(text.toLowerCase().replace(WORD_PUNCTUATION, " "));
}

function readBoolean(text: string): string {
  if (text === "True") return "yes";
  return text === "False" ? "no" : text;
}

function dropToken(token: string): string {
  const lower = token.toLowerCase();
  const bare = isPythonNumber(lower) ? lower : lower.replace(ASCII_PUNCTUATION, "");
  return withoutArticles(isPythonNumber(bare) ? asPythonWrites(bare) : bare);
}

/** A number in the format of Python's `str(float(text))`: "7" → "7.0", "1e16" → "1e+16", "infinity" → "inf". */
function asPythonWrites(text: string): string {
  const word = /inf|nan/i.exec(text)?.[0];
  if (word !== undefined) return (text.trim().startsWith("-") ? "-" : "") + word.toLowerCase();
  const value = Number(text.replaceAll("_", ""));
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16))
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  const written = Object.is(value, -0) ? "-0" : String(value);
  return Number.isInteger(value) ? `${written}.0` : written;
}
