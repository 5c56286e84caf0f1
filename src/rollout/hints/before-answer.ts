import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { drawText, hintText } from "./hint-text.ts";
import { answers, endOfThought, thoughtShape } from "./places.ts";

const options = z.strictObject({
  text: hintText({ library: "search-verification" }),
  /** Most delayed answers of a trajectory; more than one lengthens the thinking repeatedly. */
  times: z.int().min(1).default(1),
  ...thoughtShape,
});

/** The message is cut before the end of its thinking (before its answer, if there is no thinking), and continues from there. */
export const beforeAnswer = defineHint({
  name: "before-answer",
  summary: "Delays an answer: the hint is inserted before the end of the policy's thinking.",
  where: "before the end of thinking, in a message that would answer",
  source:
    "START, arXiv 2503.04625: Hint-infer before the stop token, repeated as sequential test-time scaling",
  options,
  open: ({ text, times, thinkingEnd }, random) => ({
    interject(moment) {
      if (moment.fired >= times || !answers(moment)) return null;
      const keep = endOfThought(moment, thinkingEnd);
      return { keep, text: drawText(text, random, moment) };
    },
  }),
});
