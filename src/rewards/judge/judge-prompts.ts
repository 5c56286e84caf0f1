import { partName } from "../../base/define-part.ts";
import { registry } from "../../base/registry.ts";
import { type JudgePrompt, defineJudgePrompt } from "./judge-prompt.ts";

/** The default: does the answer mean the same as an accepted one? */
export const equivalence = defineJudgePrompt({
  name: "equivalence",
  summary: "Same meaning as an accepted answer, given the question; extra correct detail is fine.",
  source:
    "The LLM-judge accuracy that R1-Searcher, ReSearch and DeepResearcher report; own wording.",
  instructions: [
    "You grade answers to questions. You are given a question, the list of accepted answers (any one of them is right), and one answer.",
    "The answer is correct if, as an answer to this question, it means the same as at least one accepted answer.",
    "- Other spellings, names, formats, units, articles and word order do not matter when the same thing is meant.",
    "- Additional detail does not matter as long as it does not contradict the accepted answer.",
    "- Judge by the accepted answers alone, even where you know better.",
    "The answer is incorrect if it names something else, is less precise than the question demands, is true but not an answer to the question, " +
      "offers several alternatives without choosing, takes back what it said, declines to answer, or contains no answer at all.",
  ].join("\n"),
});

/** For rewards and for close results: when in doubt, incorrect. */
const equivalenceStrict = defineJudgePrompt({
  name: "equivalence-strict",
  summary: "As equivalence, but complete, without a wrong detail, and incorrect when in doubt.",
  source:
    "Lenient judges accept vague wrong answers (locomo issue 23): the strict counterpart; own wording.",
  instructions: [
    "You grade answers to questions, strictly. You are given a question, the list of accepted answers (any one of them is right), and one answer.",
    "The answer is correct only if all of this holds:",
    "1. It commits to exactly one answer, stated outright.",
    "2. That answer is the same person, thing, place, date, number or yes/no as an accepted answer; only spelling, format, unit, alias or word order differ.",
    "3. It is as precise as the accepted answer: a century is not a year, a country is not a city, one name of two demanded is not both.",
    "4. Nothing else that it says contradicts the accepted answer.",
    "Judge by the accepted answers alone, even where you know better. If you are not sure that all four hold, the answer is incorrect.",
  ].join("\n"),
});

/** The judge sees no question, so it cannot answer it by itself. */
const equivalenceBlind = defineJudgePrompt({
  name: "equivalence-blind",
  summary: "As equivalence, without showing the question: for short extracted answers.",
  source:
    "Pitfalls of Rule- and Model-based Verifiers, arXiv 2505.22203 (general models judge without the question); own wording.",
  readsQuestion: false,
  leavesOut: ["yes-no"],
  instructions: [
    "You compare answers. You are given a list of accepted answers (any one of them is right) and one answer; the question is not shown.",
    "The answer is correct if it means the same as at least one accepted answer. Spelling, format, unit, alias, word order and additional detail " +
      "that does not contradict do not matter.",
    "The answer is incorrect if it means something else, is less precise than every accepted answer, offers several alternatives without choosing, " +
      "takes back what it said, or contains no answer.",
  ].join("\n"),
});

/** For long texts: is an accepted answer stated anywhere in them? */
const contained = defineJudgePrompt({
  name: "contained",
  summary: "Whether a text states an accepted answer anywhere; several answers are allowed.",
  source:
    "s3's generation accuracy, arXiv 2505.14146: a judge where the gold answer's words are not found; own wording.",
  verdicts: ["contained", "not-contained"],
  accepted: ["contained"],
  leavesOut: ["hedge"],
  instructions: [
    "You check texts. You are given a question, the list of accepted answers (any one of them is right), and one text.",
    "The verdict is contained if the text states at least one accepted answer, in any wording, spelling or format, as an answer to the question.",
    "The verdict is not-contained if it states none of them, mentions one only to deny it, repeats only the question, or declines to answer.",
    "Judge by the accepted answers alone, even where you know better.",
  ].join("\n"),
});

/** Separates wrong answers from missing ones. */
const threeWay = defineJudgePrompt({
  name: "three-way",
  summary: "correct, incorrect or not-attempted: separates a refusal from an error.",
  source: "The three grades of SimpleQA, arXiv 2411.04368; own wording.",
  verdicts: ["correct", "incorrect", "not-attempted"],
  instructions: [
    "You grade answers to questions. You are given a question, the list of accepted answers (any one of them is right), and one answer.",
    "- correct: the answer means the same as at least one accepted answer and contradicts it nowhere. Spelling, format, alias and additional detail do not matter.",
    "- incorrect: the answer commits to something that does not mean the same as any accepted answer, or offers several alternatives of which one is wrong.",
    "- not-attempted: the answer commits to nothing: it declines, asks back, stays vague, repeats the question or is empty.",
    "Judge by the accepted answers alone, even where you know better.",
  ].join("\n"),
});

const GRADES = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];

/** A scale with a threshold, which also shows near misses. */
export const graded = defineJudgePrompt({
  name: "graded",
  summary: "A grade from 1 to 10; 6 and better counts as correct.",
  source: "DeepDiver's reward (grade of at least 6 of 10), arXiv 2505.24332; own wording.",
  verdicts: GRADES,
  accepted: GRADES.slice(5),
  instructions: [
    "You grade answers to questions. You are given a question, the list of accepted answers (any one of them is right), and one answer.",
    "Give a grade from 1 to 10 for how well the answer agrees with an accepted answer:",
    "- 10: the same, in whatever spelling or format. 8 or 9: the same, with harmless detail. 6 or 7: the same beyond doubt, but loosely worded.",
    "- 4 or 5: partly the same, less precise than demanded, or one of several alternatives offered. 2 or 3: something else, of the right kind.",
    "- 1: no answer, a refusal, or beside the question.",
    "Judge by the accepted answers alone, even where you know better.",
  ].join("\n"),
});

/** All judge prompts, the default first. */
export const judgePrompts = registry<JudgePrompt>("judge prompt", [
  equivalence,
  equivalenceStrict,
  equivalenceBlind,
  contained,
  threeWay,
  graded,
]);

/** The name of a judge prompt. */
export const judgePromptName = partName(judgePrompts);
