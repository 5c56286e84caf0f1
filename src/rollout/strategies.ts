import { registry, type Part } from "../base/registry.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { rollOut, type RolloutOptions } from "./roll-out.ts";

/** A way of answering a question with a policy and an environment. */
export interface Strategy extends Part {
  /** Whether it ever uses the environment's search; one that does not needs no corpus. */
  readonly searches: boolean;
  run(options: RolloutOptions): Promise<Trajectory>;
}

const agent: Strategy = {
  name: "agent",
  summary: "The policy searches as it sees fit, over several turns.",
  searches: true,
  run: (options) => rollOut(options),
};

const direct: Strategy = {
  name: "direct",
  summary: "No search: the policy answers from the question alone.",
  searches: false,
  run: (options) => {
    const { answerOpening } = options.environment.protocol;
    return rollOut(options, { maxTurns: 0, forcedPrefix: answerOpening });
  },
};

const rag: Strategy = {
  name: "rag",
  summary: "One search with the question itself; the policy answers from its passages.",
  searches: true,
  run: (options) => {
    const { answerOpening } = options.environment.protocol;
    return rollOut(options, { maxTurns: 0, searchFirst: true, forcedPrefix: answerOpening });
  },
};

/** All inference strategies. */
export const strategies = registry<Strategy>("strategy", [agent, direct, rag]);
