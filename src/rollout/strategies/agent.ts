import { rollOut } from "../roll-out.ts";
import type { Strategy } from "./strategy.ts";

export const agent: Strategy = {
  name: "agent",
  summary: "The policy searches as it sees fit, over several turns.",
  searches: true,
  run: (options) => rollOut(options),
};
