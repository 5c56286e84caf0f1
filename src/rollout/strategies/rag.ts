import { answerOnce, onceOptions } from "./answer-once.ts";
import { defineStrategy } from "./strategy.ts";

export const rag = defineStrategy({
  name: "rag",
  summary: "One search with the question itself; the policy answers from its passages.",
  prompts: "once",
  searches: true,
  needs: ["searching", "context", "answers"],
  options: onceOptions,
  run: (rollout, settings) => answerOnce(rollout, settings, { searchFirst: true }),
});
