import type { Random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { HintMoment } from "./hint.ts";

/** How a policy's thinking is told from what it does. */
export const thoughtShape = {
  /** Text that ends a policy's thinking; where it is missing, thinking ends at a call or an answer. */
  thinkingEnd: z.string().min(1).default("</think>"),
};

/** Which of the places that fit are taken. */
export const occurrenceShape = {
  /** first: one in each message. every. random: each with a probability. */
  occurrence: z.enum(["first", "every", "random"]).default("first"),
  /** Of each place, where they are taken at random. */
  probability: z.number().gt(0).max(1).default(0.5),
  /** Hints in a trajectory, at most. */
  times: z.int().min(1).default(1),
};

/** Words of a message. */
export interface Phrase {
  at: number;
  /** After its last character. */
  end: number;
}

/**
 * Where a message's thinking ends: before the last end of thinking, else before its first call or answer, else at its end. Never
 * within what stays.
 */
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

/** What a message would answer; null where it does something else. */
export function answerIn({ message, place }: Pick<HintMoment, "message" | "place">): string | null {
  const [action] = place.options.environment.protocol.parse(message).actions;
  return action?.tool === "answer" ? action.input : null;
}

/** Where phrases stand in a text, as whole words. */
export function phrasesIn(
  text: string,
  phrases: readonly string[],
  how: "as-written" | "any-case",
): Phrase[] {
  if (phrases.length === 0) return [];
  // Of two that begin at one place the longer one is meant.
  const longest = phrases.toSorted((a, b) => b.length - a.length);
  const literal = longest.map((each) => each.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const words = `(?<![\\p{L}\\p{N}])(?:${literal.join("|")})(?![\\p{L}\\p{N}])`;
  const found = text.matchAll(new RegExp(words, how === "any-case" ? "giu" : "gu"));
  return Array.from(found, ({ index, 0: { length } }) => ({ at: index, end: index + length }));
}

/** How places are chosen, as `occurrenceShape` says. */
interface Choice {
  occurrence: "first" | "every" | "random";
  probability: number;
  times: number;
}

/**
 * The next place of a message that is taken; null where there is none.
 * @param found all of the message, so that each has the same number whenever it is looked at.
 * @param random of the hint: a place is drawn once, by its turn and number.
 */
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
