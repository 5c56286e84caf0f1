import type { Tokenizer } from "../../text/tokenizer.ts";

/** The words of a question, without its first, whose capital letter can hide its token. */
export function wordsOf(question: string): string[] {
  const [, ...words] = question.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => word.length >= SHORTEST);
}

/** Shorter words say little: many are two tokens in any vocabulary. */
const SHORTEST = 3;

/** Words that a tokenizer must spell letter by letter: the vocabulary of the tiny world has none of them. */
export function spelledWords(question: string, tokenizer: Pick<Tokenizer, "encode">): string[] {
  return wordsOf(question).filter((word) => tokenizer.encode(` ${word}`).length >= word.length);
}
