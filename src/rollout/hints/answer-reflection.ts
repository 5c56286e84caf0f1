import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { drawText, filled, hintText } from "./hint-text.ts";
import { answerIn, endOfThought, thoughtShape } from "./places.ts";

const options = z.strictObject({
  /** {answer} is what the policy would have answered. */
  text: hintText({ library: "search-reflection" }),
  /** Answers of a trajectory that are taken back, at most. */
  times: z.int().min(1).default(1),
  ...thoughtShape,
});

/**
 * The answer is taken back from the message's end into its thinking, as what the policy would answer, and it goes on from there: after
 * an answer in the protocol's own words the message would be over.
 */
export const answerReflection = defineHint({
  name: "answer-reflection",
  summary: "An answer is taken back into the policy's thinking, to be checked before it is given.",
  where: "before the end of thinking, with the answer that followed it",
  source:
    "Tool-Star, arXiv 2505.16410: hint-based sampling by answer reflection; there after the answer, which here would have ended the message",
  options,
  open: ({ text, times, thinkingEnd }, random) => ({
    interject(moment) {
      const answer = answerIn(moment);
      if (moment.fired >= times || answer === null) return null;
      const said = filled(drawText(text, random, moment), { answer });
      return said === null ? null : { keep: endOfThought(moment, thinkingEnd), text: said };
    },
  }),
});
