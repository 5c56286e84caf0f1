import { answerExpectations } from "./expectations.ts";
import { defineReward } from "./reward.ts";

/**
 * 1 if the answer, without spaces around it, is the first reference character by character, else 0. A rule of low recall: "65." and "The
 * answer is 65." are wrong where the reference is "65". For studies of verifiers that miss right answers.
 *
 * Source: the rule-based verifiers of "Pitfalls of Rule- and Model-based Verifiers", arXiv 2505.22203, section 3.
 * Different here: theirs (verl, Qwen-Math, Math-Verify) parse formulas; this is stricter, because the number world's answers are numbers.
 *
 * @example references ["1200", "1,200"]: "1200" → 1, "1,200" → 0, "1200." → 0
 */
export const strictMatch = defineReward({
  name: "strict-match",
  summary: "1 if the final answer is spelled exactly as the first reference, else 0.",
  range: [0, 1],
  source: "rule-based verifiers with false negatives, arXiv 2505.22203, section 3",
  kind: "answer",
  // Another reference than the first is wrong.
  expects: answerExpectations({ golden: { from: 0, below: 1.01 } }),
  score: ({ trajectory, task }) =>
    Number(trajectory.answer !== null && trajectory.answer.trim() === task.references[0]?.trim()),
});
