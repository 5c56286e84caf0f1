import { normalizeAnswer } from "../text/answer-normalizations.ts";
import { mentionsIn } from "../text/words.ts";

/** Where a question's answer can come from: yes and no from a guess, the question's own words from copying, the rest only from reading or memory. */
export const ANSWER_KINDS = ["yes-no", "in-question", "open"] as const;

export type AnswerKind = (typeof ANSWER_KINDS)[number];

/**
 * Whether a reference is yes or no, or stands in the question word for word. A question of several references is open only if none can be
 * guessed or copied.
 *
 * @example answerKind("Which is older, Oslo or Bergen?", ["Bergen"]) // "in-question"
 */
export function answerKind(question: string, references: readonly string[]): AnswerKind {
  const isGuess = (text: string): boolean => ["yes", "no"].includes(normalizeAnswer(text));
  if (references.some(isGuess)) return "yes-no";
  return references.some(mentionsIn(question)) ? "in-question" : "open";
}
