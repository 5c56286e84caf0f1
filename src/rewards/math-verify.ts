import { z } from "../base/schema.ts";
import { answersAny } from "../math/answers-any.ts";
import { EXTRACTIONS } from "../math/extract-answer.ts";
import { answerExpectations } from "./expectations.ts";
import { defineReward } from "./reward.ts";

/** A question that is an expression, as "(21 + 40) - 7", equals its own answer. */
const anything = { from: 0, below: 1.01 };

/**
 * 1 if the final answer is mathematically equal to any reference, else 0; no answer is wrong, not unscorable.
 *
 * @param options.extract how the answer is found in `trajectory.answer`. "any" and "last-number" pay for the last number of prose, so a
 *   policy that lists several numbers is paid for the last.
 *
 * Source: math-verify 0.9 of Hugging Face, as the rewards of Open R1 and TRL use it.
 * Different here: 1.5e3, "12 clips", complex numbers and numbers below 1e-6 are read; the test of the golden table lists every
 * verdict that differs. Work is bounded by counting (`MATH_LIMITS`), not by a timer.
 */
export const mathVerify = defineReward({
  name: "math-verify",
  summary:
    "1 if the final answer is mathematically equal to any reference (numbers, LaTeX, sets, …), else 0.",
  range: [0, 1],
  source: "huggingface/Math-Verify 0.9; accuracy reward of DeepSeek-R1, arXiv 2501.12948",
  options: z.strictObject({ extract: z.enum(EXTRACTIONS).default("answer") }),
  kind: "answer",
  expects: answerExpectations({ "question-as-answer": anything }),
  score: async ({ trajectory, task }, { extract }) =>
    Number(await answersAny(trajectory.answer, task.references, extract)),
});
