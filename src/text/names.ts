import { isFunctionWord, wordsOf } from "./words.ts";

/** The first name in a question, without function words around it, else the question: what copying from a question answers. */
export function firstNameIn(question: string): string {
  const runs = question.match(/\p{Lu}[\p{L}\p{N}'’.-]*(?: \p{Lu}[\p{L}\p{N}'’.-]*)*/gu) ?? [];
  const names = runs.map((run) => contentOf(run)).filter((name) => /^\p{Lu}/u.test(name));
  return names[0] ?? question;
}

/** The content words of a text, as written, without those of a name. */
export function contentOf(text: string, without = ""): string {
  const dropped = new Set(wordsOf(without));
  return distinctWords(text, (words) => {
    return !words.every((word) => isFunctionWord(word) || dropped.has(word));
  }).join(" ");
}

/** Distinct words as written, without punctuation around them. */
export function distinctWords(text: string, isWanted: (words: string[]) => boolean): string[] {
  const seen = new Set<string>();
  return text.split(/\s+/).flatMap((piece) => {
    const bare = piece.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$|['’]s?[^\p{L}\p{N}]*$/gu, "");
    const words = wordsOf(bare);
    const key = words.join(" ");
    if (words.length === 0 || seen.has(key) || !isWanted(words)) return [];
    seen.add(key);
    return [bare];
  });
}
