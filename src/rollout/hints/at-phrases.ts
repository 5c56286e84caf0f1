import { z } from "../../base/schema.ts";
import { searchCount } from "../../trajectory/trajectory.ts";
import { defineHint, drawText, hintText } from "./hint.ts";
import {
  answers,
  endOfThought,
  nextPlace,
  occurrenceShape,
  phrasesIn,
  thoughtShape,
} from "./places.ts";

const afterConnectiveOptions = z.strictObject({
  text: hintText({ library: "search-alternative" }),
  /** Words before the hint, case-sensitive. */
  connectives: z.array(z.string().min(1)).min(1).default(["Wait", "Alternatively"]),
  ...occurrenceShape,
  ...thoughtShape,
});

/** Removes the text after the connective; the policy continues from the hint. */
export const afterConnective = defineHint({
  name: "after-connective",
  summary: "Inserts the hint after a word with which the policy questions itself.",
  where: "right after a connective of its thinking",
  source:
    "START, arXiv 2503.04625: Hint-infer after high-frequency connectives; the choice of places is an option here",
  options: afterConnectiveOptions,
  open: ({ text, connectives, thinkingEnd, ...how }, random) => ({
    interject(moment) {
      const thought = moment.message.slice(0, endOfThought(moment, thinkingEnd));
      const found = phrasesIn(thought, connectives, "as-written");
      const next = nextPlace(moment, found, how, random);
      return next && { keep: next.end, text: drawText(text, random, moment) };
    },
  }),
});

const uncertaintyOptions = z.strictObject({
  text: hintText({ library: "search-doubt" }),
  /** Words of uncertainty, case-insensitive; they and all text after them are removed. */
  phrases: z
    .array(z.string().min(1))
    .min(1)
    .default(["maybe", "perhaps", "probably", "wait", "not sure", "not certain"]),
  ...occurrenceShape,
  ...thoughtShape,
});

/** Cuts the thought at an uncertain word; the policy writes the rest again, with the tool. */
export const uncertainty = defineHint({
  name: "uncertainty",
  summary: "Cuts uncertain thinking, which continues from the hint.",
  where: "instead of words of uncertainty in its thinking",
  source:
    "Tool-Star, arXiv 2505.16410: hint-based sampling by logical verification; the choice of places is an option here",
  options: uncertaintyOptions,
  open: ({ text, phrases, thinkingEnd, ...how }, random) => ({
    interject(moment) {
      const thought = moment.message.slice(0, endOfThought(moment, thinkingEnd));
      const found = phrasesIn(thought, phrases, "any-case");
      const next = nextPlace(moment, found, how, random);
      return next && { keep: next.at, text: drawText(text, random, moment) };
    },
  }),
});

const beforeGuessOptions = z.strictObject({
  text: hintText({ library: "search-guess" }),
  /** Words, case-insensitive, with which the policy begins to guess; they and all text after them are removed. */
  phrases: z.array(z.string().min(1)).default([]),
  /** Whether an answer before the first search is a guess: the hint then goes before the end of thinking. */
  answers: z.boolean().default(true),
  ...occurrenceShape,
  ...thoughtShape,
});

/** Against late use of the tool: the policy guesses instead of searching. */
export const beforeGuess = defineHint({
  name: "before-guess",
  summary: "Replaces work by hand with the statement that the tool does it better.",
  where: "before chosen words, or before the end of thinking of an answer without a search",
  source:
    "CoRT, arXiv 2506.09820: Hint-Engineering against delayed computation; places are found by rule here, by hand there",
  options: beforeGuessOptions,
  open: ({ text, phrases, answers: holdsAnswers, thinkingEnd, ...how }, random) => ({
    interject(moment) {
      const end = endOfThought(moment, thinkingEnd);
      const found = phrasesIn(moment.message.slice(0, end), phrases, "any-case");
      const next = nextPlace(moment, found, how, random);
      if (next !== null) return { keep: next.at, text: drawText(text, random, moment) };
      const isGuess = holdsAnswers && searchCount(moment.place.trajectory) === 0 && answers(moment);
      if (!isGuess || moment.fired >= how.times) return null;
      return { keep: end, text: drawText(text, random, moment) };
    },
  }),
});

const afterResultOptions = z.strictObject({
  text: hintText({ library: "search-trust" }),
  /** Words of doubt, case-insensitive; they and all text after them are removed. */
  phrases: z
    .array(z.string().min(1))
    .min(1)
    .default([
      ..."wait|hmm|not sure|double-check|double check|verify|doubt|let me check".split("|"),
      ..."is this right|is that right|may be wrong|might be wrong".split("|"),
    ]),
  /** The words count only in the first characters of a message: later doubts are about something else. */
  within: z.int().min(1).default(300),
  ...occurrenceShape,
  ...thoughtShape,
});

/** Against distrust of the tool: the policy checks its results again by hand. */
export const afterResult = defineHint({
  name: "after-result",
  summary: "Replaces doubts about a tool's result by the statement that the result is reliable.",
  where: "before words of doubt at the start of the message after an observation",
  source:
    "CoRT, arXiv 2506.09820: Hint-Engineering against distrust of results; places are found by rule here, by hand there",
  options: afterResultOptions,
  open: ({ text, phrases, within, thinkingEnd, ...how }, random) => ({
    interject(moment) {
      const { place, message } = moment;
      const before = place.trajectory.turns.findLast(({ chain }) => chain === undefined);
      const gave = before?.observations.some(({ problem }) => problem === undefined) ?? false;
      if (!gave) return null;
      const end = endOfThought(moment, thinkingEnd);
      const found = phrasesIn(message.slice(0, end), phrases, "any-case");
      const next = nextPlace(
        moment,
        found.filter(({ at }) => at < within),
        how,
        random,
      );
      return next && { keep: next.at, text: drawText(text, random, moment) };
    },
  }),
});
