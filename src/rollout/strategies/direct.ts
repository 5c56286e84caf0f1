import { rollOut } from "../roll-out.ts";
import type { Strategy } from "./strategy.ts";

export const direct: Strategy = {
  name: "direct",
  summary: "No search: the policy answers from the question alone.",
  searches: false,
  run: (options) => {
    const { answerOpening } = options.environment.protocol;
    return rollOut(options, { maxTurns: 0, forcedPrefix: answerOpening });
  },
};
