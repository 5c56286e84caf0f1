import { sentenceSpans } from "../text/sentence-spans.ts";

/**
 * Sentences of a text, ended by a full stop, question or exclamation mark, or line end; not by initials and common abbreviations.
 * @example sentencesOf("J. Doe was born in St. Ives. He sang.") // ["J. Doe was born in St. Ives.", "He sang."]
 */
export function sentencesOf(text: string): string[] {
  return sentenceSpans(text).map(([from, to]) => text.slice(from, to));
}

/** The first non-empty line, trimmed; "" if there is none. */
export function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .map((line) => line.trim())
      .find((line) => line !== "") ?? ""
  );
}
