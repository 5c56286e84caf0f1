import type { JudgePrompt } from "../judge-prompt.ts";

/** For long texts: is an accepted answer stated anywhere in them? */
export const contained: JudgePrompt = {
  name: "contained",
  summary: "Whether a text states an accepted answer anywhere; several answers are no fault.",
  version: 1,
  source:
    "s3's generation accuracy, arXiv 2505.14146: a judge where the gold answer's words are not found; own wording.",
  readsQuestion: true,
  verdicts: ["contained", "not-contained"],
  accepted: ["contained"],
  leavesOut: ["hedge"],
  instructions: [
    "You check texts. You are given a question, the list of accepted answers (any one of them is right), and one text.",
    "The verdict is contained if the text states at least one accepted answer, in any wording, spelling or format, as an answer to the question.",
    "The verdict is not-contained if it states none of them, mentions one only to deny it, repeats only the question, or declines to answer.",
    "Judge by the accepted answers alone, even where you know better.",
  ].join("\n"),
};
