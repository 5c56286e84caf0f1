import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { drawText, filled, hintText } from "./hint-text.ts";
import { answerIn, endOfThought, thoughtShape } from "./places.ts";

const options = z.strictObject({
  /** {answer} is the policy's removed answer. */
  text: hintText({ library: "search-reflection" }),
  /** Most removed answers of a trajectory. */
  times: z.int().min(1).default(1),
  ...thoughtShape,
});

/**
 * The answer moves from the message's end into its thinking, as a tentative answer, and the policy continues from there: an answer in the
 * protocol's own form would end the message.
 */
export const answerReflection = defineHint({
  name: "answer-reflection",
  summary: "Moves an answer back into the policy's thinking, to be checked first.",
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
