import { z } from "../../base/schema.ts";
import { rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

export const agent = defineStrategy({
  name: "agent",
  summary: "The policy searches as it sees fit, over several turns.",
  prompts: "grows",
  searches: true,
  options: z.strictObject({
    /** Turns in which tools run, at most; the environment's budget where absent. */
    turns: z.int().min(1).optional(),
  }),
  run: (options, { turns }) => rollOut(options, turns === undefined ? {} : { maxTurns: turns }),
});
