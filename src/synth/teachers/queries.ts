import { contentOf, distinctWords } from "../../text/names.ts";
import { isFunctionWord, wordsOf } from "../../text/words.ts";
import { namesOf, type NeededPassage, type SoughtStep } from "./sought-steps.ts";

/** Why the teacher searches: decides the thought. */
export type QueryReason = "wanted" | "named" | "narrowed" | "question" | "words" | "clues";

export interface Query {
  text: string;
  reason: QueryReason;
  /** Its name, for "named" and "narrowed". */
  name?: string;
}

/** The searcher's knowledge before a query. */
export interface Knowledge {
  question: string;
  read: string;
  isKnown: (text: string) => boolean;
  isRead: (passage: NeededPassage) => boolean;
  found: readonly NeededPassage[];
}

const MOST_CLUES = 12;

/**
 * Queries for a step, best first, with words from question or replies only: the step's phrase, its passage's name, the question, its content
 * words, then those of question and found passages that the gold passage contains. A searcher without gold could have written any of them.
 */
export function* queriesFor(step: SoughtStep, knowledge: Knowledge): Generator<Query> {
  const { question, isKnown, found } = knowledge;
  const { passage, wanted, names } = step;
  if (wanted !== null && (names.length === 0 || names.some(isKnown)))
    yield { text: wanted, reason: "wanted" };
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
  for (const { title } of found)
    yield { text: `${title} ${contentOf(question, title)}`, reason: "clues" };
}

/** A name as the question or a reply spells it; its own spelling if neither contains it exactly. */
function asWritten(name: string, { question, read }: Knowledge): string {
  for (const text of [question, read]) {
    const at = text.toLowerCase().indexOf(name.toLowerCase());
    if (at >= 0) return text.slice(at, at + name.length);
  }
  return name;
}

function clues(text: string, other: ReadonlySet<string>): string[] {
  return distinctWords(text, (words) => {
    return words.some((word) => other.has(word) && !isFunctionWord(word));
  }).slice(0, MOST_CLUES);
}

/** Names and numbers that two texts share. */
function nameClues(text: string, other: ReadonlySet<string>): string[] {
  return clues(text, other).filter((word) => /^[\p{Lu}\p{N}]/u.test(word));
}
