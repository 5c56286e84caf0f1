import { z } from "../../base/schema.ts";
import { coverExactMatch, exactMatch, tokenF1 } from "../../text/answers.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import type { Task } from "../../trajectory/task.ts";
import { defineGate } from "./define-step.ts";

/** How a trajectory is found right: what steps that ask for it have in common. */
export const rightShape = {
  /** What is compared with the bound: the run's own reward, or the answer with the references. */
  by: z.enum(["reward", "exact-match", "token-f1", "cover"]).default("reward"),
  /** From here on it is right. */
  atLeast: z.number().default(1),
};

type Right = z.output<z.ZodObject<typeof rightShape>>;

const MEASURES = { "exact-match": exactMatch, "token-f1": tokenF1, cover: coverExactMatch };

/** Whether a candidate is right; null where nobody scored it. */
export function isRight({ trajectory }: Candidate, task: Task, right: Right): boolean | null {
  const { reward, answer } = trajectory;
  if (right.by === "reward") return reward === null ? null : reward >= right.atLeast;
  return MEASURES[right.by](answer ?? "", task.references) >= right.atLeast;
}

export const correct = defineGate({
  name: "correct",
  summary: "Drops what is not right: its reward, or its answer beside the references, is too low.",
  source: "rejection sampling, as in START (arXiv 2503.04625) and Tool-Star (arXiv 2505.16410)",
  options: z.strictObject(rightShape),
  why(candidate, task, { settings }) {
    const right = isRight(candidate, task, settings);
    if (right === null) return "not scored";
    return right ? null : "wrong answer";
  },
});
