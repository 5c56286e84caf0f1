import { mean } from "../../base/statistics.ts";
import { defineMetric, type MeasuredDraw } from "./metric.ts";

const FUNCTIONS = new Set("max min gcd lcm mod sqrt log ln exp sin cos tan".split(" "));
/** Numbers, LaTeX commands, words, a bracket with what is in it, signs, spaces; the group: what ends a formula. */
const PIECES = /\d+(?:\.\d+)?|\\[A-Za-z]+|[A-Za-z]+|\([^()=\n]*\)|[-+*/^_%(){}|!=]|[ \t]+|([^])/g;
const LATEX: readonly (readonly [RegExp, string])[] = [
  [/\\[()[\]]|\\\\|\$/g, "\n"],
  [/\\(?:left|right|quad|qquad)(?![A-Za-z])|\\[,;:! ]|&/g, " "],
  [/\\(?:text|mathrm|textbf)\s*\{[^{}]*\}/g, ""],
  [/\\(?:times|cdot)(?![A-Za-z])|[×·]/g, "*"],
  [/\\div(?![A-Za-z])|÷/g, "/"],
  [/\\[dt]frac(?![A-Za-z])/g, "\\frac"],
  [/−/g, "-"],
  [/(\d)(?:,|\{,\})(?=\d{3}(?!\d))/g, "$1"],
  [/^\s*[-*+]\s+/gm, ""],
];

/**
 * The equations of a solution, in order and without spaces: the longest pieces of numbers, signs, single letters, names of functions and
 * LaTeX commands that have "=" between two sides. A word, a comma, a full stop, a line's end or a border of math mode ends a piece; "a = b
 * = c" is one equation. \times is *, \dfrac is \frac, units in \text are dropped.
 * @example equationsIn("Check: 3 * 4 = 12. So $x=\\dfrac{12}{5}$, 7.") // ["3*4=12", "x=\\frac{12}{5}"]
 */
export function equationsIn(text: string): string[] {
  const plain = LATEX.reduce((read, [from, to]) => read.replace(from, to), text);
  const pieces = [""];
  for (const [piece, end] of plain.matchAll(PIECES)) {
    const isWord = /^[A-Za-z]{2,}$/.test(piece) && !FUNCTIONS.has(piece);
    if (isWord || end !== undefined) pieces.push("");
    else pieces.push(`${pieces.pop() ?? ""}${piece.replaceAll(/\s/g, "")}`);
  }
  const trimmed = pieces.map((piece) => piece.replace(/^[+*/^_=]+|[-+*/^_=]+$/g, ""));
  return trimmed.filter((piece) => /[\dA-Za-z)}]=+[-({\\\dA-Za-z]/.test(piece));
}

/**
 * Different equations by all equations of some solutions; null without an equation.
 * Source: Div-Equ, arXiv 2505.23433; what counts as an equation is ours.
 * @example divEqu(["1 + 2 = 3. 3 * 2 = 6.", "1 + 2 = 3."]) // 2 / 3
 */
export function divEqu(texts: readonly string[]): number | null {
  const all = texts.flatMap(equationsIn);
  return all.length === 0 ? null : new Set(all).size / all.length;
}

const MOST_WORDS = 4;

function gramsOf(words: readonly string[], n: number): string[] {
  return words.slice(n - 1).map((_, i) => words.slice(i, i + n).join(" "));
}

function wordsIn(text: string): string[] {
  return text.match(/\d+(?:\.\d+)?|[\p{L}\p{M}\p{N}]+|[^\s]/gu) ?? [];
}

/**
 * Mean over n = 1 … 4 of the different n-grams by all n-grams of some texts; null without a word.
 * Source: the n-gram diversity score of arXiv 2403.00553, there a sum; n-grams across two texts are not counted here.
 * @example ngramDiversity(["a b", "a c"]) // 1-grams 3/4, 2-grams 2/2: .875
 */
export function ngramDiversity(texts: readonly string[]): number | null {
  const shares = Array.from({ length: MOST_WORDS }, (_, i) => {
    const grams = texts.flatMap((text) => gramsOf(wordsIn(text), i + 1));
    return grams.length === 0 ? [] : [new Set(grams).size / grams.length];
  }).flat();
  return shares.length === 0 ? null : mean(shares);
}

/**
 * Mean BLEU-4 of each text against the others: 1 for equal texts; null for fewer than two.
 * Source: Texygen, arXiv 1802.01886; BLEU as in Papineni et al., 2002, with a count of .1 in place of 0 (smoothing 1 of NLTK).
 */
export function selfBleu(texts: readonly string[]): number | null {
  const words = texts.map(wordsIn);
  if (words.length < 2) return null;
  return mean(words.map((each, i) => bleu(each, words.toSpliced(i, 1))));
}

function bleu(words: readonly string[], references: readonly (readonly string[])[]): number {
  if (words.length === 0) return 0;
  let logs = 0;
  for (let n = 1; n <= MOST_WORDS; n++) {
    const known = references.map((each) => countsOf(gramsOf(each, n)));
    let matched = 0;
    for (const [gram, count] of countsOf(gramsOf(words, n)))
      matched += Math.min(count, Math.max(...known.map((counts) => counts.get(gram) ?? 0)));
    logs += Math.log((matched || 0.1) / Math.max(1, words.length - n + 1)) / MOST_WORDS;
  }
  const gap = (length: number): number => Math.abs(length - words.length);
  const lengths = references.map(({ length }) => length).sort((a, b) => gap(a) - gap(b) || a - b);
  return Math.exp(logs + Math.min(0, 1 - (lengths[0] ?? 0) / words.length));
}

function countsOf(grams: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const gram of grams) counts.set(gram, (counts.get(gram) ?? 0) + 1);
  return counts;
}

function textOf({ trajectory }: MeasuredDraw): string {
  return trajectory.turns.map(({ text }) => text).join("\n");
}

/** The reward `correct` where the recipe has it, else em. */
function isRight({ row }: MeasuredDraw): boolean {
  return (row.metrics?.["correct"] ?? row.em) === 1;
}

function rightTexts(draws: readonly MeasuredDraw[]): string[] {
  return draws.filter(isRight).map(textOf);
}

export const divEquMetric = defineMetric({
  name: "div-equ",
  summary: "Different equations by all equations of a question's right draws (Div-Equ).",
  source: "Diversity-Aware Policy Optimization, arXiv 2505.23433; what an equation is, is ours",
  scoreDraws: (draws) => divEqu(rightTexts(draws)),
});

/** Of all right draws at once, Div-Equ falls as more of them are right; of pairs it does not. */
export const divEquPairsMetric = defineMetric({
  name: "div-equ-pairs",
  summary: "Div-Equ of two right draws: the mean over all pairs of a question's right draws.",
  source: "ours, after Div-Equ",
  scoreDraws(draws) {
    const texts = rightTexts(draws);
    const pairs = texts.flatMap((a, i) => texts.slice(i + 1).map((b) => [a, b]));
    const found = pairs.flatMap((pair) => divEqu(pair) ?? []);
    return found.length === 0 ? null : mean(found);
  },
});

export const selfBleuMetric = defineMetric({
  name: "self-bleu",
  summary: "Mean BLEU-4 of each draw of a question against its others: 1 if they are equal.",
  source: "Texygen, arXiv 1802.01886",
  scoreDraws: (draws) => selfBleu(draws.map(textOf)),
});

export const ngramDiversityMetric = defineMetric({
  name: "ngram-diversity",
  summary: "Different n-grams by all n-grams of a question's draws, the mean of n = 1 to 4.",
  source: "the n-gram diversity score of arXiv 2403.00553, divided by 4",
  scoreDraws: (draws) => (draws.length < 2 ? null : ngramDiversity(draws.map(textOf))),
});
