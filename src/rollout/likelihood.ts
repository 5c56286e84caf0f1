import { ConfigError } from "../base/errors.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { Policy, TokenPolicy } from "./policy.ts";

/**
 * The policy, if it can tell the likelihood of texts.
 * @param key of the recipe, where what needs them is named.
 * @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS
 */
export function requireLogprobs(
  policy: Policy,
  instead = "Use another strategy.",
  key = "evaluation.strategy",
): ScoringPolicy {
  if (!("open" in policy) && policy.logprobs !== undefined) return policy as ScoringPolicy;
  throw new ConfigError(
    "STRATEGY_NEEDS_LOGPROBS",
    `${key}: the policy "${policy.role}" gives no log-probabilities of a given text, as models run here do; what is named there goes by them. ${instead}`,
  );
}

/** A policy that can tell how likely a text is. */
export type ScoringPolicy = TokenPolicy & Required<Pick<TokenPolicy, "logprobs">>;

/**
 * Mean log-probability (nats a token) of a text after a prompt, recorded as a call that wrote nothing.
 * @returns null when the two do not fit the policy's context.
 */
export async function meanLogprob(
  policy: ScoringPolicy,
  trajectory: Trajectory,
  { prompt, text, signal }: { prompt: string; text: string; signal: AbortSignal },
): Promise<number | null> {
  signal.throwIfAborted();
  const { tokenizer, rendering, maxPositions, role, version } = policy;
  const promptIds = tokenizer.encodeStart(rendering?.opening(prompt) ?? prompt);
  const ids = tokenizer.encode(text);
  if (promptIds.length + ids.length > maxPositions) return null;
  const logprobs = await policy.logprobs(promptIds, ids);
  const segment = { logprobs: null };
  trajectory.calls.push({
    ...{ parent: null, role, policyVersion: version },
    prompt: [
      { owner: "template", ids: promptIds, ...segment },
      { owner: "inserted", ids, ...segment },
    ],
    ...{ completion: [], finish: "stop" },
  });
  return logprobs.reduce((sum, each) => sum + each, 0) / logprobs.length;
}
