/** Compares an answer with accepted answers; shared by rewards, `eval`, `score` and judges. */
import { type Normalization, normalizeAnswer } from "./answer-normalizations.ts";

/** Word overlap of an answer and one reference; each value from 0 to 1. */
export interface WordOverlap {
  f1: number;
  /** Share of the answer's words that occur in the reference. */
  precision: number;
  /** Share of the reference's words that occur in the answer. */
  recall: number;
}

/**
 * 1 when the prediction equals any reference after normalisation, else 0.
 *
 * @param references accepted answers; an empty list gives 0.
 * @example exactMatch("the Eiffel Tower.", ["Eiffel tower", "La tour Eiffel"]) // 1
 */
export function exactMatch(
  prediction: string,
  references: readonly string[],
  normalization: Normalization = "squad",
): number {
  const predicted = normalizeAnswer(prediction, normalization);
  return anyReference(references, (text) => normalizeAnswer(text, normalization) === predicted);
}

/**
 * Harmonic mean of precision and recall over two bags of words; the best over the references.
 *
 * @returns a number in [0, 1]; see `wordOverlap`.
 * @example tokenF1("Barack Obama senior", ["barack obama"]) // precision 2/3, recall 1: 0.8
 */
export function tokenF1(
  prediction: string,
  references: readonly string[],
  normalization: Normalization = "squad",
): number {
  const predicted = normalizeAnswer(prediction, normalization);
  const accepted = references.map((reference) => normalizeAnswer(reference, normalization));
  return wordOverlap(predicted, accepted).f1;
}

/**
 * F1, precision and recall over bags of words, for the reference with the best F1.
 *
 * All are 0 when no word is shared (also for two empty answers), and when one side is yes, no or noanswer and the
 * other side differs.
 *
 * @param predicted normalised; `accepted` too.
 *
 * Source: HotpotQA's `hotpot_evaluate_v1.py`, `f1_score`, which has one reference per question.
 *
 * @example wordOverlap("barack obama senior", ["barack obama"]) // { f1: 0.8, precision: 2/3, recall: 1 }
 */
export function wordOverlap(predicted: string, accepted: readonly string[]): WordOverlap {
  let best = NO_OVERLAP;
  for (const reference of accepted) {
    const closed = CLOSED_ANSWERS.has(predicted) || CLOSED_ANSWERS.has(reference);
    if (closed && predicted !== reference) continue;
    const overlap = bagOverlap(predicted, reference);
    if (overlap.f1 > best.f1) best = overlap;
  }
  return best;
}

/**
 * 1 when any normalised reference occurs inside the normalised prediction, else 0 ("cover EM", "sub EM"); see `coversText`.
 * @example coverExactMatch("It is Paris, France.", ["paris"]) // 1
 */
export function coverExactMatch(
  prediction: string,
  references: readonly string[],
  normalization: Normalization = "squad",
): number {
  const predicted = normalizeAnswer(prediction, normalization);
  const accepted = references.map((reference) => normalizeAnswer(reference, normalization));
  return coversText(predicted, accepted);
}

/**
 * 1 when any normalised reference occurs inside the normalised prediction, else 0.
 *
 * It compares characters, not words: "nothing" contains "no". A reference that is empty after
 * normalisation matches only an empty prediction.
 *
 * @param predicted normalised; `accepted` too.
 * @example coversText("nothing", ["no"]) // 1
 * @example coversText("it is paris france", ["paris"]) // 1
 */
export function coversText(predicted: string, accepted: readonly string[]): number {
  return anyReference(accepted, (reference) =>
    reference === "" ? predicted === "" : predicted.includes(reference),
  );
}

/**
 * 1 when every word of any reference occurs among the prediction's words, in any order and number, else 0.
 *
 * @param predicted normalised, with "words" for R1-Searcher's definition; `accepted` too.
 *
 * Source: R1-Searcher's rule accuracy (ACC_R), arXiv 2503.05592; `cover_exact_match_score_1` in its code.
 *
 * @example coversWords("obama barack h", ["barack obama"]) // 1
 */
export function coversWords(predicted: string, accepted: readonly string[]): number {
  const words = new Set(predicted.split(" "));
  return anyReference(accepted, (text) => text.split(" ").every((word) => words.has(word)));
}

function anyReference(
  references: readonly string[],
  matches: (reference: string) => boolean,
): number {
  return references.some(matches) ? 1 : 0;
}

const NO_OVERLAP: WordOverlap = { f1: 0, precision: 0, recall: 0 };
const CLOSED_ANSWERS = new Set(["yes", "no", "noanswer"]);

/** Overlap of two bags of words; zeros when no word is shared. @param predicted normalised; `reference` too. */
export function bagOverlap(predicted: string, reference: string): WordOverlap {
  const predictedWords = words(predicted);
  const referenceWords = words(reference);
  const left = new Map<string, number>();
  for (const word of referenceWords) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of predictedWords) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared += 1;
  }
  if (shared === 0) return NO_OVERLAP;
  const precision = shared / predictedWords.length;
  const recall = shared / referenceWords.length;
  return { f1: (2 * precision * recall) / (precision + recall), precision, recall };
}

function words(normalized: string): string[] {
  return normalized === "" ? [] : normalized.split(" ");
}
