import { answerIn } from "../env/protocols/protocol.ts";
import { z } from "../base/schema.ts";
import type { Environment } from "../env/environments/environment.ts";
import type { LintGrammar, LintContext } from "../trajectory/lint/lint-reading.ts";
import { strategies } from "./strategies/index.ts";

/** What trajectories of a strategy are held to; null (environment, strategy, temperature): not known. */
export function lintContextOf(drawn: {
  environment: Pick<Environment, "protocol" | "answers"> | null;
  strategy: string | null;
  temperature: number | null;
}): LintContext {
  const strategy = strategies.loaded.find(({ name }) => name === drawn.strategy);
  const isOwn = drawn.strategy !== null && (strategy?.prompts ?? "own") === "own";
  const options = strategy?.options;
  const drawsItself = options instanceof z.ZodObject && "temperature" in options.shape;
  return {
    grammar: isOwn || drawn.environment === null ? null : grammarOf(drawn.environment),
    temperature: isOwn || drawsItself ? null : drawn.temperature,
  };
}

function grammarOf({ protocol, answers }: Pick<Environment, "protocol" | "answers">): LintGrammar {
  return {
    findCut: (text) => protocol.findCut(text),
    renderObservations: (observations) => protocol.renderObservations(observations),
    answerOf: (texts) => (answers ? answerIn(protocol, texts) : null),
    readsPrompt: protocol.answer.scope === "prompt-and-response",
  };
}
