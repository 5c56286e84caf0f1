import { languageWords } from "./language.ts";

const DIGITS = Array.from({ length: 10 }, (_, digit) => String(digit));

/** Signs of expressions, of their spellings and of code. */
const SIGNS = `+ - * / % = < > ( ) [ ] { } , . : ? ! # _ ' "`.split(" ");

/** Names and keywords of short Python programs. */
const CODE_WORDS =
  "print def return for in range if else elif while sum max min int len abs round list sorted not and or True False None import math answer result output python total count value error Error line x y z n i a b c";

/**
 * Every word, digit and sign of any problem, step or solution of the number world, and of short Python programs; as they stand in a text: with
 * the space before them, and without it where they also stand at a beginning or after a bracket. Numbers are read digit by digit: one entry for
 * each digit at the beginning of a number (" 4") and within it ("4").
 *
 * @example numberWorldVocabulary().includes(" lamps") // true
 */
export function numberWorldVocabulary(): string[] {
  const bare = [...CODE_WORDS.split(" "), ...DIGITS, ...SIGNS, "\n", " "];
  const spaced = [...languageWords(), ...bare.slice(0, -2)].map((word) => ` ${word}`);
  return [...new Set([...spaced, ...bare])].sort();
}
