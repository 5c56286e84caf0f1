import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { drawText, hintText } from "./hint-text.ts";
import { endOfThought, nextPlace, occurrenceShape, phrasesIn, thoughtShape } from "./places.ts";

const options = z.strictObject({
  text: hintText({ library: "search-doubt" }),
  /** Words of uncertainty, in any case: removed with all that follows. */
  phrases: z
    .array(z.string().min(1))
    .min(1)
    .default(["maybe", "perhaps", "probably", "wait", "not sure", "not certain"]),
  ...occurrenceShape,
  ...thoughtShape,
});

/** The thought is cut at its first uncertainty, and continues with the tool. */
export const uncertainty = defineHint({
  name: "uncertainty",
  summary: "Cuts uncertain thinking, which continues from the hint.",
  where: "instead of words of uncertainty in its thinking",
  source:
    "Tool-Star, arXiv 2505.16410: hint-based sampling by logical verification; the choice of places is an option here",
  options,
  open: ({ text, phrases, thinkingEnd, ...how }, random) => ({
    interject(moment) {
      const thought = moment.message.slice(0, endOfThought(moment, thinkingEnd));
      const found = phrasesIn(thought, phrases, "any-case");
      const next = nextPlace(moment, found, how, random);
      return next && { keep: next.at, text: drawText(text, random, moment) };
    },
  }),
});
