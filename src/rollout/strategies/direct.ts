import { z } from "../../base/schema.ts";
import { rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

export const direct = defineStrategy({
  name: "direct",
  summary: "No search: the policy answers from the question alone.",
  prompts: "once",
  searches: false,
  needs: ["answers"],
  options: z.strictObject({}),
  run: (options) => {
    const { answerOpening } = options.environment.protocol;
    return rollOut(options, { maxTurns: 0, prefill: answerOpening });
  },
});
