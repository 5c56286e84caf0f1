import { type Extraction, finalAnswer } from "./extract-answer.ts";
import { mathEqual } from "./math-equal.ts";

/** Whether the final answer of a text equals any reference; a text without an answer equals none. */
export async function answersAny(
  text: string | null,
  references: readonly string[],
  extraction: Extraction = "answer",
): Promise<boolean> {
  const answer = text === null ? null : finalAnswer(text, extraction);
  if (answer === null) return false;
  for (const reference of references) if (await mathEqual(answer, reference)) return true;
  return false;
}
