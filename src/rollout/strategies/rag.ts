import { rollOut } from "../roll-out.ts";
import type { Strategy } from "./strategy.ts";

export const rag: Strategy = {
  name: "rag",
  summary: "One search with the question itself; the policy answers from its passages.",
  searches: true,
  run: (options) => {
    const { answerOpening } = options.environment.protocol;
    return rollOut(options, { maxTurns: 0, searchFirst: true, forcedPrefix: answerOpening });
  },
};
