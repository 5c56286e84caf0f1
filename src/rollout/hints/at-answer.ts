import { z } from "../../base/schema.ts";
import { filled } from "../../trajectory/gold-texts.ts";
import { defineHint, drawText, hintText } from "./hint.ts";
import { answerIn, answers, endOfThought, thoughtShape } from "./places.ts";

const beforeAnswerOptions = z.strictObject({
  text: hintText({ library: "search-verification" }),
  /** Most answers of a trajectory to delay; above 1, the thinking gets longer each time. */
  times: z.int().min(1).default(1),
  ...thoughtShape,
});

/** Removes the text from the end of thinking (without thinking: from the answer); the policy continues from the hint. */
export const beforeAnswer = defineHint({
  name: "before-answer",
  summary: "Delays an answer: the hint is inserted before the end of the policy's thinking.",
  where: "before the end of thinking, in a message that would answer",
  source:
    "START, arXiv 2503.04625: Hint-infer before the stop token, repeated as sequential test-time scaling",
  options: beforeAnswerOptions,
  open: ({ text, times, thinkingEnd }, random) => ({
    interject(moment) {
      if (moment.fired >= times || !answers(moment)) return null;
      const keep = endOfThought(moment, thinkingEnd);
      return { keep, text: drawText(text, random, moment) };
    },
  }),
});

const answerReflectionOptions = z.strictObject({
  /** {answer}: the policy's answer. */
  text: hintText({ library: "search-reflection" }),
  /** Most answers of a trajectory to remove. */
  times: z.int().min(1).default(1),
  ...thoughtShape,
});

/** Moves the answer into the thinking as a proposal, from where the policy continues: in its own grammar it would end the message. */
export const answerReflection = defineHint({
  name: "answer-reflection",
  summary: "Moves an answer back into the policy's thinking, to be checked first.",
  where: "before the end of thinking, with the answer that followed it",
  source:
    "Tool-Star, arXiv 2505.16410: hint-based sampling by answer reflection; there after the answer, which here would have ended the message",
  options: answerReflectionOptions,
  open: ({ text, times, thinkingEnd }, random) => ({
    interject(moment) {
      const answer = answerIn(moment);
      if (moment.fired >= times || answer === null) return null;
      const reflection = filled(drawText(text, random, moment), { answer });
      return reflection === null
        ? null
        : { keep: endOfThought(moment, thinkingEnd), text: reflection };
    },
  }),
});
