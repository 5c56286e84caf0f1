import { z } from "../../base/schema.ts";
import { rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

export const agent = defineStrategy({
  name: "agent",
  summary: "The policy searches as it sees fit, over several turns.",
  prompts: "grows",
  searches: true,
  options: z.strictObject({}),
  run: (options) => rollOut(options),
});
