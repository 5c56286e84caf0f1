import type { JudgePrompt } from "../judge-prompt.ts";

const GRADES = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];

/** A scale with a threshold, for runs that want to see how near a miss was. */
export const graded: JudgePrompt = {
  name: "graded",
  summary: "A grade from 1 to 10; 6 and better counts as correct.",
  version: 1,
  source: "DeepDiver's reward (grade of at least 6 of 10), arXiv 2505.24332; own wording.",
  readsQuestion: true,
  verdicts: GRADES,
  accepted: GRADES.slice(5),
  leavesOut: [],
  instructions: [
    "You grade answers to questions. You are given a question, the list of accepted answers (any one of them is right), and one answer.",
    "Give a grade from 1 to 10 for how well the answer agrees with an accepted answer:",
    "- 10: the same, in whatever spelling or format. 8 or 9: the same, with harmless detail. 6 or 7: the same beyond doubt, but loosely worded.",
    "- 4 or 5: partly the same, less precise than demanded, or one of several alternatives offered. 2 or 3: something else, of the right kind.",
    "- 1: no answer, a refusal, or beside the question.",
    "Judge by the accepted answers alone, even where you know better.",
  ].join("\n"),
};
