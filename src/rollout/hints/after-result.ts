import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { drawText, hintText } from "./hint-text.ts";
import { endOfThought, nextPlace, occurrenceShape, phrasesIn, thoughtShape } from "./places.ts";

const options = z.strictObject({
  text: hintText({ library: "search-trust" }),
  /** Words of doubt about a result, in any case: removed with all that follows. */
  phrases: z
    .array(z.string().min(1))
    .min(1)
    .default([
      ..."wait|hmm|not sure|double-check|double check|verify|doubt|let me check".split("|"),
      ..."is this right|is that right|may be wrong|might be wrong".split("|"),
    ]),
  /** Only this many first characters of the message are searched: later doubts are about something else. */
  within: z.int().min(1).default(300),
  ...occurrenceShape,
  ...thoughtShape,
});

/** Against distrust of the tool: checking its result again by hand. */
export const afterResult = defineHint({
  name: "after-result",
  summary: "Replaces doubts about a tool's result by the statement that the result is reliable.",
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
