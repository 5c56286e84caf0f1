import { escapeRegExp } from "../../base/escape-reg-exp.ts";
import type { Random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { HintMoment } from "./hint.ts";

/** Option that separates a policy's thinking from its action. */
export const thoughtShape = {
  /** Text that ends the thinking; without it, thinking ends at a call or an answer. */
  thinkingEnd: z.string().min(1).default("</think>"),
};

/** Options that choose among the matching places. */
export const occurrenceShape = {
  /** first: one in each message. every. random: each with a probability. */
  occurrence: z.enum(["first", "every", "random"]).default("first"),
  /** Of each place, if `occurrence` is random. */
  probability: z.number().gt(0).max(1).default(0.5),
  /** Most insertions in a trajectory. */
  times: z.int().min(1).default(1),
};

/** A phrase in a message. */
export type Phrase = { at: number; end: number };

/** Where a message's thinking ends: before the last end tag, else the first call or answer, else at the end; never within fixed text. */
export function endOfThought(moment: HintMoment, thinkingEnd: string): number {
  const { message, from, place } = moment;
  const thought = message.lastIndexOf(thinkingEnd);
  if (thought >= from) return thought;
  const { tags } = place.options.environment.protocol;
  const acts = tags.filter(({ holds }) => holds === "call" || holds === "answer");
  const opened = acts.map(({ name }) => message.indexOf(`<${name}>`, from)).filter((at) => at >= 0);
  return Math.min(message.length, ...opened);
}

/** Whether a message would end the trajectory with an answer. */
export function answers({ message, place }: HintMoment): boolean {
  return answerIn({ message, place }) !== null;
}

/** The answer of a message; null if it does not answer. */
export function answerIn({ message, place }: Pick<HintMoment, "message" | "place">): string | null {
  const [action] = place.options.environment.protocol.parse(message).actions;
  return action?.tool === "answer" ? action.input : null;
}

/** Finds phrases in a text, as whole words. */
export function phrasesIn(
  text: string,
  phrases: readonly string[],
  how: "as-written" | "any-case",
): Phrase[] {
  if (phrases.length === 0) return [];
  // Of two phrases that begin at one place, the longer one matches.
  const longest = phrases.toSorted((a, b) => b.length - a.length);
  const literal = longest.map(escapeRegExp);
  const words = `(?<![\\p{L}\\p{N}])(?:${literal.join("|")})(?![\\p{L}\\p{N}])`;
  const found = text.matchAll(new RegExp(words, how === "any-case" ? "giu" : "gu"));
  return Array.from(found, ({ index, 0: { length } }) => ({ at: index, end: index + length }));
}

type Choice = { occurrence: "first" | "every" | "random"; probability: number; times: number };

/** The next place that gets a hint; null: none. @param found all phrases. @param random draws each place once, by its number. */
export function nextPlace(
  { from, fired, firedHere, place }: HintMoment,
  found: readonly Phrase[],
  { occurrence, probability, times }: Choice,
  random: Random,
): Phrase | null {
  if (fired >= times || (occurrence === "first" && firedHere > 0)) return null;
  const isTaken = (number: number): boolean =>
    occurrence !== "random" || random.derive("place", place.turn, number).next() < probability;
  return found.find(({ at }, number) => at >= from && isTaken(number)) ?? null;
}
