import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { drawText, hintText } from "./hint-text.ts";
import { endOfThought, nextPlace, occurrenceShape, phrasesIn, thoughtShape } from "./places.ts";

const options = z.strictObject({
  text: hintText({ library: "search-trust" }),
  /** Words, in any case, with which the policy begins to doubt what came back: taken back with all that follows. */
  phrases: z
    .array(z.string().min(1))
    .min(1)
    .default([
      ..."wait|hmm|not sure|double-check|double check|verify|doubt|let me check".split("|"),
      ..."is this right|is that right|may be wrong|might be wrong".split("|"),
    ]),
  /** Characters from the message's beginning in which they must stand: later doubts are about something else. */
  within: z.int().min(1).default(300),
  ...occurrenceShape,
  ...thoughtShape,
});

/** Against distrust of the tool: checking again by hand what it gave. */
export const afterResult = defineHint({
  name: "after-result",
  summary: "Where the policy begins to doubt what its tool gave, it is told that it need not.",
  where: "before words of doubt at the start of the message after an observation",
  source:
    "CoRT, arXiv 2506.09820: Hint-Engineering against distrust of results; places are found by rule here, by hand there",
  options,
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
