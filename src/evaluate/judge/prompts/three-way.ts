import type { JudgePrompt } from "../judge-prompt.ts";

/** Tells apart who was wrong from who did not try. */
export const threeWay: JudgePrompt = {
  name: "three-way",
  summary: "correct, incorrect or not-attempted: a refusal is told apart from an error.",
  version: 1,
  source: "The three grades of SimpleQA, arXiv 2411.04368; own wording.",
  readsQuestion: true,
  verdicts: ["correct", "incorrect", "not-attempted"],
  accepted: ["correct"],
  leavesOut: [],
  instructions: [
    "You grade answers to questions. You are given a question, the list of accepted answers (any one of them is right), and one answer.",
    "- correct: the answer means the same as at least one accepted answer and contradicts it nowhere. Spelling, format, alias and additional detail do not matter.",
    "- incorrect: the answer commits to something that does not mean the same as any accepted answer, or offers several alternatives of which one is wrong.",
    "- not-attempted: the answer commits to nothing: it declines, asks back, stays vague, repeats the question or is empty.",
    "Judge by the accepted answers alone, even where you know better.",
  ].join("\n"),
};
