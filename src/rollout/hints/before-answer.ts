import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { drawText, hintText } from "./hint-text.ts";
import { answers, endOfThought, thoughtShape } from "./places.ts";

const options = z.strictObject({
  text: hintText({ library: "search-verification" }),
  /** Answers of a trajectory that are held up, at most; more than one lengthens the thinking again and again. */
  times: z.int().min(1).default(1),
  ...thoughtShape,
});

/** The message is taken back to before the end of its thinking (its answer, where it thought nothing), and goes on from there. */
export const beforeAnswer = defineHint({
  name: "before-answer",
  summary: "An answer is held up: the hint stands where the policy would have stopped thinking.",
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
