import { exactMatch as matches } from "../text/answers.ts";
import { answerExpectations } from "./expectations.ts";
import { defineReward } from "./reward.ts";

/** 1 if the final answer equals any reference after SQuAD's normalisation, else 0; no answer is wrong, not unscorable. */
export const exactMatch = defineReward({
  name: "exact-match",
  summary: "1 if the final answer equals any reference after normalisation, else 0.",
  range: [0, 1],
  metric: "em",
  source: "SQuAD v1.1 evaluation; Search-R1, arXiv 2503.09516, section 3.4",
  kind: "answer",
  expects: answerExpectations(),
  score: ({ trajectory, task }) =>
    trajectory.answer === null ? 0 : matches(trajectory.answer, task.references),
});
