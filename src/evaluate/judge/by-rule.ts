import type { JudgeCase } from "./judge-case.ts";

const SAYS_SOMETHING = /[^\p{P}\p{Z}\p{C}$+<=>^`|~]/u;

/**
 * Whether an answer says nothing: no character beside punctuation, ASCII symbols, white space and characters without width. It is
 * wrong without asking: judges take such answers for right at rates up to a half (arXiv 2505.22203, table 3).
 *
 * An answer that equals an accepted one to the character (`?`) is asked about.
 */
export function saysNothing({ prediction, references }: Omit<JudgeCase, "question">): boolean {
  return !SAYS_SOMETHING.test(prediction) && !references.includes(prediction.trim());
}
