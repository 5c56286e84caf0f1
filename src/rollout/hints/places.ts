import type { Random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { HintMoment } from "./hint.ts";

/** How to find the end of a policy's thinking. */
export const thoughtShape = {
  /** Text that ends a policy's thinking; without it, thinking ends at a call or an answer. */
  thinkingEnd: z.string().min(1).default("</think>"),
};

/** Choice among the matching places. */
export const occurrenceShape = {
  /** first: one in each message. every. random: each with a probability. */
  occurrence: z.enum(["first", "every", "random"]).default("first"),
  /** Probability of each place, for random. */
  probability: z.number().gt(0).max(1).default(0.5),
  /** Most hints in a trajectory. */
  times: z.int().min(1).default(1),
};

/** Words of a message. */
export interface Phrase {
  at: number;
  /** End (exclusive). */
  end: number;
}

/**
 * End of a message's thinking: before the last end-of-thinking text, else before its first call or answer, else at its end. Never within
 * the fixed characters.
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

/** The answer of a message; null if it has none. */
export function answerIn({ message, place }: Pick<HintMoment, "message" | "place">): string | null {
  const [action] = place.options.environment.protocol.parse(message).actions;
  return action?.tool === "answer" ? action.input : null;
}

/** Places of phrases in a text, as whole words. */
export function phrasesIn(
  text: string,
  phrases: readonly string[],
  how: "as-written" | "any-case",
): Phrase[] {
  if (phrases.length === 0) return [];
  // Of two at one place the longer one counts.
  const longest = phrases.toSorted((a, b) => b.length - a.length);
  const literal = longest.map((each) => each.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const words = `(?<![\\p{L}\\p{N}])(?:${literal.join("|")})(?![\\p{L}\\p{N}])`;
  const found = text.matchAll(new RegExp(words, how === "any-case" ? "giu" : "gu"));
  return Array.from(found, ({ index, 0: { length } }) => ({ at: index, end: index + length }));
}

/** Options of `occurrenceShape`. */
interface Choice {
  occurrence: "first" | "every" | "random";
  probability: number;
  times: number;
}

/**
 * The next chosen place of a message; null if there is none.
 * @param found all places of the message, so that each always has the same number.
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
