import type { JudgePrompt } from "../judge-prompt.ts";

/** The judge sees no question, so it cannot answer it by itself. */
export const equivalenceBlind: JudgePrompt = {
  name: "equivalence-blind",
  summary: "As equivalence, without showing the question: for short extracted answers.",
  version: 1,
  source:
    "Pitfalls of Rule- and Model-based Verifiers, arXiv 2505.22203 (general models judge without the question); own wording.",
  readsQuestion: false,
  verdicts: ["correct", "incorrect"],
  accepted: ["correct"],
  leavesOut: ["yes-no"],
  instructions: [
    "You compare answers. You are given a list of accepted answers (any one of them is right) and one answer; the question is not shown.",
    "The answer is correct if it means the same as at least one accepted answer. Spelling, format, unit, alias, word order and additional detail " +
      "that does not contradict do not matter.",
    "The answer is incorrect if it means something else, is less precise than every accepted answer, offers several alternatives without choosing, " +
      "takes back what it said, or contains no answer.",
  ].join("\n"),
};
