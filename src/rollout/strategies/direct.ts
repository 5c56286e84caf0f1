import { z } from "../../base/schema.ts";
import { answerOnce } from "./answer-once.ts";
import { defineStrategy } from "./strategy.ts";

export const direct = defineStrategy({
  name: "direct",
  summary: "No search: the policy answers from the question alone.",
  prompts: "once",
  searches: false,
  needs: ["answers"],
  options: z.strictObject({}),
  run: (rollout) => answerOnce(rollout),
});
