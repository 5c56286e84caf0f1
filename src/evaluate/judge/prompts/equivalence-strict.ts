import type { JudgePrompt } from "../judge-prompt.ts";

/** For rewards and for close results: when in doubt, incorrect. */
export const equivalenceStrict: JudgePrompt = {
  name: "equivalence-strict",
  summary: "As equivalence, but complete, without a wrong detail, and incorrect when in doubt.",
  version: 1,
  source:
    "Lenient judges accept vague wrong answers (locomo issue 23): the strict counterpart; own wording.",
  readsQuestion: true,
  verdicts: ["correct", "incorrect"],
  accepted: ["correct"],
  leavesOut: [],
  instructions: [
    "You grade answers to questions, strictly. You are given a question, the list of accepted answers (any one of them is right), and one answer.",
    "The answer is correct only if all of this holds:",
    "1. It commits to exactly one answer, stated outright.",
    "2. That answer is the same person, thing, place, date, number or yes/no as an accepted answer; only spelling, format, unit, alias or word order differ.",
    "3. It is as precise as the accepted answer: a century is not a year, a country is not a city, one name of two demanded is not both.",
    "4. Nothing else that it says contradicts the accepted answer.",
    "Judge by the accepted answers alone, even where you know better. If you are not sure that all four hold, the answer is incorrect.",
  ].join("\n"),
};
