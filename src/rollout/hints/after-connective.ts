import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { drawText, hintText } from "./hint-text.ts";
import { endOfThought, nextPlace, occurrenceShape, phrasesIn, thoughtShape } from "./places.ts";

const options = z.strictObject({
  text: hintText({ library: "search-alternative" }),
  /** Words after which it is inserted, case-sensitive. */
  connectives: z.array(z.string().min(1)).min(1).default(["Wait", "Alternatively"]),
  ...occurrenceShape,
  ...thoughtShape,
});

/** The text after the connective is removed, and the policy continues from the hint. */
export const afterConnective = defineHint({
  name: "after-connective",
  summary: "Inserts the hint after a word with which the policy questions itself.",
  where: "right after a connective of its thinking",
  source:
    "START, arXiv 2503.04625: Hint-infer after high-frequency connectives; the choice of places is an option here",
  options,
  open: ({ text, connectives, thinkingEnd, ...how }, random) => ({
    interject(moment) {
      const thought = moment.message.slice(0, endOfThought(moment, thinkingEnd));
      const found = phrasesIn(thought, connectives, "as-written");
      const next = nextPlace(moment, found, how, random);
      return next && { keep: next.end, text: drawText(text, random, moment) };
    },
  }),
});
