import { coverExactMatch } from "../text/answers.ts";
import { answerExpectations } from "./expectations.ts";
import { defineReward } from "./reward.ts";

/** An answer around the reference loses nothing, so a policy that is trained on this alone learns to list candidates. */
const anything = { from: 0, below: 1.01 };

/** 1 if the final answer contains any reference after SQuAD's normalisation, else 0; no answer is wrong, not unscorable. */
export const coverEm = defineReward({
  name: "cover-em",
  summary: "1 if the final answer contains any reference after normalisation, else 0.",
  range: [0, 1],
  metric: "cover_em",
  source: "R1-Searcher, arXiv 2503.05592, the answer reward of its first stage's released code",
  kind: "answer",
  expects: answerExpectations({
    alternatives: 1,
    candidates: 1,
    repeated: 1,
    "very-long": 1,
    "question-as-answer": anything,
    "prompt-echo": anything,
  }),
  score: ({ trajectory, task }) =>
    trajectory.answer === null ? 0 : coverExactMatch(trajectory.answer, task.references),
});
