import { z } from "../../base/schema.ts";
import { rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** The policy may think before it answers: its one message is its own from the start, as it is in RARE. Absent: its answer is variant. */
  thinks: z.boolean().optional(),
});

export const rag = defineStrategy({
  name: "rag",
  summary: "One search with the question itself; the policy answers from its passages.",
  prompts: "once",
  searches: true,
  needs: ["searching", "context", "answers"],
  options,
  run: (rollout, { thinks }) => {
    const { answerOpening } = rollout.environment.protocol;
    const variant = thinks === true ? {} : { prefill: answerOpening };
    return rollOut(rollout, { maxTurns: 0, searchFirst: true, ...variant });
  },
});
