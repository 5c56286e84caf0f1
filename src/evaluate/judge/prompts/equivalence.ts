import type { JudgePrompt } from "../judge-prompt.ts";

/** The default: does the answer say the same as an accepted one, as an answer to this question? */
export const equivalence: JudgePrompt = {
  name: "equivalence",
  summary: "Same meaning as an accepted answer, given the question; extra correct detail is fine.",
  version: 1,
  source:
    "The LLM-judge accuracy that R1-Searcher, ReSearch and DeepResearcher report; own wording.",
  readsQuestion: true,
  verdicts: ["correct", "incorrect"],
  accepted: ["correct"],
  leavesOut: [],
  instructions: [
    "You grade answers to questions. You are given a question, the list of accepted answers (any one of them is right), and one answer.",
    "The answer is correct if, as an answer to this question, it means the same as at least one accepted answer.",
    "- Other spellings, names, formats, units, articles and word order do not matter when the same thing is meant.",
    "- Additional detail does not matter as long as it does not contradict the accepted answer.",
    "- Judge by the accepted answers alone, even where you know better.",
    "The answer is incorrect if it names something else, is less precise than the question demands, is true but not an answer to the question, " +
      "offers several alternatives without choosing, takes back what it said, declines to answer, or contains no answer at all.",
  ].join("\n"),
};
