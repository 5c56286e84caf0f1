import { defineJudgePrompt } from "agentrl";

export default defineJudgePrompt({
  name: "same-entity",
  summary: "Whether the answer names the same person, place or thing.",
  // Increase it with every change of the wording.
  version: 1,
  // The judge answers with one verdict; those in `accepted` count as right.
  verdicts: ["same", "different", "none"],
  accepted: ["same"],
  instructions: [
    "You compare answers. You are given a question, the accepted answers, and one answer.",
    "- same: the answer names what an accepted answer names, in any spelling.",
    "- different: it names something else. none: it names nothing.",
  ].join("\n"),
});
