import { isFunctionWord, wordsOf } from "../../text/words.ts";
import { namesOf, type NeededPassage, type SoughtStep } from "./sought-steps.ts";

/** Why a query is asked: what its thought says. */
export type QueryReason = "wanted" | "named" | "narrowed" | "question" | "words" | "clues";

export interface Query {
  text: string;
  reason: QueryReason;
  /** The name that it is about, for "named" and "narrowed". */
  name?: string;
}

/** What a searcher knows before a query. */
export interface Knowledge {
  question: string;
  /** Replies as they were shown. */
  read: string;
  /** Whether a text stands in the question or in what was read. */
  isKnown: (text: string) => boolean;
  isRead: (passage: NeededPassage) => boolean;
  /** Passages that were read, of those needed. */
  found: readonly NeededPassage[];
}

/** Words of a query that are put together from clues, at most. */
const MOST_CLUES = 12;

/**
 * Queries for a step, best first, each of words that stand in the question or in what was read: the step's own phrase, the name of its
 * passage, the question, its content words, then those of them, and of the passages found so far, which the passage itself holds.
 *
 * The gold chooses among such queries and adds no word: a searcher who knows no more could have written any of them.
 */
export function* queriesFor(step: SoughtStep, knowledge: Knowledge): Generator<Query> {
  const { question, isKnown, found } = knowledge;
  const { passage, wanted, names } = step;
  if (wanted !== null && (names.length === 0 || names.some(isKnown))) {
    yield { text: wanted, reason: "wanted" };
  }
  const known = [...names, ...(passage === null ? [] : namesOf(passage))].find(isKnown);
  const name = known === undefined ? undefined : asWritten(known, knowledge);
  if (name !== undefined) yield { text: name, reason: "named", name };
  const own = new Set(passage === null ? [] : wordsOf(`${passage.title} ${passage.text}`));
  const read = found.map(({ title, text }) => `${title} ${text}`).join(" ");
  if (name !== undefined) {
    yield { text: `${name} ${contentOf(question, name)}`, reason: "narrowed", name };
    yield { text: `${name} ${clues(read, own).join(" ")}`, reason: "narrowed", name };
  }
  yield { text: question, reason: "question" };
  yield { text: contentOf(question), reason: "words" };
  const asked = clues(question, own);
  yield { text: asked.join(" "), reason: "clues" };
  yield { text: nameClues(read, own).join(" "), reason: "clues" };
  yield { text: [...asked, ...nameClues(read, own)].join(" "), reason: "clues" };
  for (const { title } of found) {
    yield { text: `${title} ${contentOf(question, title)}`, reason: "clues" };
  }
}

/** A name as the question has it, or what was read; its own spelling where neither has it letter by letter. */
function asWritten(name: string, { question, read }: Knowledge): string {
  for (const text of [question, read]) {
    const at = text.toLowerCase().indexOf(name.toLowerCase());
    if (at >= 0) return text.slice(at, at + name.length);
  }
  return name;
}

/** The words of a text that say something, as they are written, without those of a name. */
export function contentOf(text: string, without = ""): string {
  const dropped = new Set(wordsOf(without));
  return distinctWords(text, (words) => {
    return !words.every((word) => isFunctionWord(word) || dropped.has(word));
  }).join(" ");
}

/** Words of a text that say something and that another text has, too. */
function clues(text: string, other: ReadonlySet<string>): string[] {
  return distinctWords(text, (words) => {
    return words.some((word) => other.has(word) && !isFunctionWord(word));
  }).slice(0, MOST_CLUES);
}

/** The same, of names and numbers alone. */
function nameClues(text: string, other: ReadonlySet<string>): string[] {
  return clues(text, other).filter((word) => /^[\p{Lu}\p{N}]/u.test(word));
}

/** Words as they are written, punctuation around them dropped, each once. */
function distinctWords(text: string, isWanted: (words: string[]) => boolean): string[] {
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
