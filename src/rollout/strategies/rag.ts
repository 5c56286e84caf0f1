import { z } from "../../base/schema.ts";
import { rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

export const rag = defineStrategy({
  name: "rag",
  summary: "One search with the question itself; the policy answers from its passages.",
  prompts: "once",
  searches: true,
  options: z.strictObject({}),
  run: (options) => {
    const { answerOpening } = options.environment.protocol;
    return rollOut(options, { maxTurns: 0, searchFirst: true, forcedPrefix: answerOpening });
  },
});
