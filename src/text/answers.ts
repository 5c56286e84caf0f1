/**
 * Matching an answer with accepted answers: the normalisations and rules that rewards, `eval` and `score` share.
 *
 * Two normalisations are in use in the field and give different numbers on one file ("acid-house" and "acid house"
 * are equal in the second only), so every function says which one it applies.
 */

const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/g;
const WORD_PUNCTUATION = /[!-/:-@[-`{-~‘’´]/g;
// Articles as whole words. Word characters are all letters and digits: JavaScript's \b knows ASCII only and would
// cut the last letter off "açaí a" and "Ça".
const ARTICLES = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;
const SPACES = /\p{White_Space}+/gu;

/** A way to reduce an answer to what is compared. */
export type Normalization = "squad" | "words";

/** All normalisations, for flags and messages. */
export const NORMALIZATIONS: readonly Normalization[] = ["squad", "words"];

/**
 * Reduces an answer to what is compared.
 *
 * - "squad": lower-case → ASCII punctuation deleted → a, an, the dropped → white space squeezed.
 * - "words": a whole answer "True" or "False" is read as yes or no; then lower-case → ASCII punctuation and ‘ ’ ´
 *   become spaces → articles dropped → white space squeezed.
 *
 * Source: "squad" is the SQuAD v1.1 and HotpotQA evaluation scripts; "words" is RUCAIBox/R1-Searcher, its evaluation's
 * `normalize_answer`, which reads True and False only without surrounding spaces, as we do.
 *
 * @example normalizeAnswer("The  St. Louis-Cup!")          // "st louiscup"
 * @example normalizeAnswer("The  St. Louis-Cup!", "words") // "st louis cup"
 */
export function normalizeAnswer(text: string, normalization: Normalization = "squad"): string {
  const bare =
    normalization === "squad"
      ? text.toLowerCase().replace(ASCII_PUNCTUATION, "")
      : readBoolean(text).toLowerCase().replace(WORD_PUNCTUATION, " ");
  return bare.replace(ARTICLES, " ").replace(SPACES, " ").trim();
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
 * Harmonic mean of precision and recall over the two bags of words, the best over the references.
 *
 * 0 when no word is shared (two empty answers included), and 0 when either side is yes, no or noanswer and the
 * other differs.
 *
 * @returns a number in [0, 1].
 *
 * Source: HotpotQA's `hotpot_evaluate_v1.py`, `f1_score`.
 *
 * @example tokenF1("Barack Obama senior", ["barack obama"]) // precision 2/3, recall 1: 0.8
 */
export function tokenF1(
  prediction: string,
  references: readonly string[],
  normalization: Normalization = "squad",
): number {
  const predicted = normalizeAnswer(prediction, normalization);
  let best = 0;
  for (const reference of references) {
    best = Math.max(best, bagF1(predicted, normalizeAnswer(reference, normalization)));
  }
  return best;
}

/**
 * 1 when any normalised reference occurs inside the normalised prediction, else 0 ("cover EM", "sub EM").
 *
 * It compares characters, not words: "no" is covered by "nothing". A reference without any characters left after
 * normalising covers nothing but an equally empty prediction.
 *
 * @example coverExactMatch("It is Paris, France.", ["paris"]) // 1
 */
export function coverExactMatch(
  prediction: string,
  references: readonly string[],
  normalization: Normalization = "squad",
): number {
  const predicted = normalizeAnswer(prediction, normalization);
  return anyReference(references, (text) => {
    const reference = normalizeAnswer(text, normalization);
    return reference === "" ? predicted === "" : predicted.includes(reference);
  });
}

/**
 * 1 when every word of any reference occurs among the prediction's words, in any order and number, else 0.
 * Always normalised by "words".
 *
 * Source: R1-Searcher's rule accuracy (ACC_R), arXiv 2503.05592; `cover_exact_match_score_1` in its code.
 *
 * @example tokenCover("Obama, Barack H.", ["Barack Obama"]) // 1
 */
export function tokenCover(prediction: string, references: readonly string[]): number {
  const predicted = new Set(normalizeAnswer(prediction, "words").split(" "));
  return anyReference(references, (text) =>
    normalizeAnswer(text, "words")
      .split(" ")
      .every((word) => predicted.has(word)),
  );
}

function anyReference(
  references: readonly string[],
  matches: (reference: string) => boolean,
): number {
  return references.some(matches) ? 1 : 0;
}

function readBoolean(text: string): string {
  if (text === "True") return "yes";
  return text === "False" ? "no" : text;
}

const CLOSED_ANSWERS = new Set(["yes", "no", "noanswer"]);

function bagF1(predicted: string, reference: string): number {
  const closed = CLOSED_ANSWERS.has(predicted) || CLOSED_ANSWERS.has(reference);
  if (closed && predicted !== reference) return 0;
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
  if (shared === 0) return 0;
  const precision = shared / predictedWords.length;
  const recall = shared / referenceWords.length;
  return (2 * precision * recall) / (precision + recall);
}

function words(normalized: string): string[] {
  return normalized === "" ? [] : normalized.split(" ");
}
