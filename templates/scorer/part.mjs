import { defineScorer } from "agentrl";

export default defineScorer({
  name: "answer-length",
  summary: "Characters of the answer.",
  gives: ["answer-length"],
  // The second argument has the teacher's policy and the environment, for scores that ask them.
  open: () => ({ score: async (task, { answer }) => ({ "answer-length": answer?.length ?? 0 }) }),
});
