import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { PlayedTurn, TurnPlace } from "../play-message.ts";
import { defineStrategy } from "./strategy.ts";

export const agent = defineStrategy({
  name: "agent",
  summary: "The policy searches when it wants, over several turns.",
  prompts: "grows",
  searches: true,
  options: z.strictObject({
    /** Most turns in which tools run; default: the environment's budget. */
    turns: z.int().min(1).optional(),
    /** Begins its first message, such as the opening tag of a call that it must make. */
    prefill: z.string().min(1).optional(),
    /** A message is a call where the opening of one has at least this probability, else an answer. By default it is drawn. */
    callAt: z.number().min(0).max(1).optional(),
  }),
  run: async (options, { turns, prefill, callAt }) => {
    const { rollOut } = await import("../roll-out.ts");
    return rollOut(options, {
      maxTurns: turns,
      prefill,
      prefillRequest: prefill === undefined ? undefined : `\nBegin with: ${prefill}`,
      playTurn: callAt === undefined ? undefined : (place) => playDecided(place, callAt),
    });
  },
});

/**
 * A message whose first word is decided by the probability of a call.
 * Source: SmartRAG, arXiv 2410.18141, at .5. Different here: the call's whole opening counts, there its first token.
 */
async function playDecided(place: TurnPlace, callAt: number): Promise<PlayedTurn | null> {
  const { options, trajectory, inputs, prefill, final } = place;
  const { protocol, name } = options.environment;
  const { playMessage } = await import("../play-message.ts");
  if (final || prefill !== "") return playMessage(place);
  const opening = protocol.tags.find(({ holds }) => holds === "call")?.opening;
  const [prompt, ...others] = inputs;
  if (opening === undefined || prompt?.owner !== "template" || others.length > 0) {
    const message = `strategy agent with callAt: it reads whole prompts before a call between tags, and environment "${name}" has none here. Set environment.reissue, or take callAt out.`;
    throw new ConfigError("STRATEGY_UNFIT", message);
  }
  const { requireLogprobs, textLogprob } = await import("../prompt-session.ts");
  const policy = requireLogprobs(options.policy, "Take callAt out.");
  const asked = { prompt: prompt.text, text: opening, signal: options.signal };
  const logprob = await textLogprob(policy, trajectory, asked);
  if (logprob === null) return null;
  const begun = Math.exp(logprob) >= callAt ? opening : protocol.answerOpening;
  return playMessage({
    ...place,
    inputs: [...inputs, { owner: "inserted", text: begun }],
    prefill: begun,
  });
}
