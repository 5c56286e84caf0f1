import type { Tokenizer } from "../../text/tokenizer.ts";
import type { Task } from "../../trajectory/task.ts";

/** Number of questions whose words are looked up. */
export const SAMPLED_QUESTIONS = 64;

/** The words of a question, without its first, whose capital letter can hide its token. */
function wordsOf(question: string): string[] {
  const [, ...words] = question.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => word.length >= SHORTEST);
}

/** Shorter words say little: many are two tokens in any vocabulary. */
const SHORTEST = 3;

/** Words that a tokenizer must spell letter by letter: the vocabulary of the tiny world has none of them. */
export function spelledWords(question: string, tokenizer: Pick<Tokenizer, "encode">): string[] {
  return wordsOf(question).filter((word) => tokenizer.encode(` ${word}`).length >= word.length);
}

/** The share of words of questions that a tokenizer must spell. Questions without accepted answers, such as the letters of a grid, have symbols of their own. */
export function spelledShare(
  sampled: readonly Pick<Task, "question" | "references">[],
  tokenizer: Pick<Tokenizer, "encode">,
): number {
  const questions = sampled.flatMap(({ question, references }) =>
    references.length > 0 ? [question] : [],
  );
  const words = questions.flatMap(wordsOf).length;
  const spelled = questions.flatMap((question) => spelledWords(question, tokenizer)).length;
  return words === 0 ? 0 : spelled / words;
}

/** Above it, a policy cannot read the questions. Real vocabularies stay far below, the tiny world's is far above on real text. */
const MOST_SPELLED = 0.2;

/** What is wrong with a vocabulary that must spell a share of the words; null where it can read the questions. */
export function vocabularyProblem(spelled: number): string | null {
  if (spelled <= MOST_SPELLED) return null;
  return `its vocabulary has no token for ${Math.round(100 * spelled)} % of the words of your questions, so it cannot read them. The package's own policies, and every model trained from them, know only the words of its small worlds.`;
}
