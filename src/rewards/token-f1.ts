import { tokenF1 as f1 } from "../text/answers.ts";
import { answerExpectations } from "./expectations.ts";
import { defineReward } from "./reward.ts";

/** Harmonic mean of the answer's token precision and recall, the best over references; no answer is 0. */
export const tokenF1 = defineReward({
  name: "token-f1",
  summary: "Token overlap (F1) of the final answer with the best reference.",
  range: [0, 1],
  metric: "f1",
  source: "SQuAD v1.1 and HotpotQA evaluation",
  kind: "answer",
  // Words in common give part of the credit, whatever stands around them; more words lower it.
  expects: answerExpectations({
    "question-as-answer": { from: 0, below: 1 },
    "prompt-echo": { from: 0, below: 1 },
    alternatives: { from: 0, below: 1 },
    candidates: { from: 0, below: 1 },
    repeated: { from: 0, below: 1 },
    "very-long": { from: 0, below: 0.05 },
  }),
  score: ({ trajectory, task }) =>
    trajectory.answer === null ? 0 : f1(trajectory.answer, task.references),
});
