import { z } from "../../base/schema.ts";
import { searchCount } from "../../trajectory/search-count.ts";
import { defineHint } from "./hint.ts";
import { drawText, hintText } from "./hint-text.ts";
import {
  answers,
  endOfThought,
  nextPlace,
  occurrenceShape,
  phrasesIn,
  thoughtShape,
} from "./places.ts";

const options = z.strictObject({
  text: hintText({ library: "search-guess" }),
  /** Words of work without the tool, in any case: removed with all that follows. */
  phrases: z.array(z.string().min(1)).default([]),
  /** Whether an answer before the first search counts as a guess: the hint then comes before the end of thinking. */
  answers: z.boolean().default(true),
  ...occurrenceShape,
  ...thoughtShape,
});

/** Against delayed use of the tool: work by hand that the tool would do at once. */
export const beforeGuess = defineHint({
  name: "before-guess",
  summary: "Replaces work by hand with the statement that the tool does it better.",
  where: "before chosen words, or before the end of thinking of an answer without a search",
  source:
    "CoRT, arXiv 2506.09820: Hint-Engineering against delayed computation; places are found by rule here, by hand there",
  options,
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
