import { z } from "../base/schema.ts";
import { tokenF1 as f1 } from "../text/answers.ts";
import { trajectoryReward } from "./reward.ts";

/** Harmonic mean of the answer's token precision and recall, the best over references; no answer is 0. */
export const tokenF1 = trajectoryReward({
  name: "token-f1",
  summary: "Token overlap (F1) of the final answer with the best reference.",
  range: [0, 1],
  source: "SQuAD v1.1 and HotpotQA evaluation",
  options: z.strictObject({}),
  scoreOne: ({ trajectory, task }) =>
    trajectory.answer === null ? 0 : f1(trajectory.answer, task.references),
});
