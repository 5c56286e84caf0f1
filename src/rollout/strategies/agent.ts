import { z } from "../../base/schema.ts";
import { rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

export const agent = defineStrategy({
  name: "agent",
  summary: "The policy searches when it wants, over several turns.",
  prompts: "grows",
  searches: true,
  options: z.strictObject({
    /** Most turns in which tools run; default: the environment's budget. */
    turns: z.int().min(1).optional(),
  }),
  run: (options, { turns }) => rollOut(options, turns === undefined ? {} : { maxTurns: turns }),
});
