import { ConfigError } from "../base/errors.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { Policy, TokenPolicy } from "./policy.ts";

/** The policy, if it can score texts. @param key recipe key of the part that needs it. @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS */
export function requireLogprobs(
  policy: Policy,
  instead = "Use another strategy.",
  key = "evaluation.strategy",
): ScoringPolicy {
  if (!("open" in policy) && policy.logprobs !== undefined) return policy as ScoringPolicy;
  const message = `${key}: the policy "${policy.role}" cannot give log-probabilities of a given text, which this setting needs; local models can. ${instead}`;
  throw new ConfigError("STRATEGY_NEEDS_LOGPROBS", message);
}

/** A policy that can score a text. */
export type ScoringPolicy = TokenPolicy & Required<Pick<TokenPolicy, "logprobs">>;

type ScoredText = { prompt: string; text: string; signal: AbortSignal };

/** As `textLogprob`, by token (nats a token). */
export async function meanLogprob(
  policy: ScoringPolicy,
  trajectory: Trajectory,
  asked: ScoredText,
): Promise<number | null> {
  const whole = await textLogprob(policy, trajectory, asked);
  return whole === null ? null : whole / policy.tokenizer.encode(asked.text).length;
}

/** Log-probability (nats) of a text after a prompt, recorded as a call without a completion; null when they do not fit the context. */
export async function textLogprob(
  policy: ScoringPolicy,
  trajectory: Trajectory,
  { prompt, text, signal }: ScoredText,
): Promise<number | null> {
  signal.throwIfAborted();
  const { tokenizer, rendering, maxPositions, role, version } = policy;
  const promptIds = tokenizer.encodeStart(rendering?.opening(prompt) ?? prompt);
  const ids = tokenizer.encode(text);
  if (promptIds.length + ids.length > maxPositions) return null;
  const logprobs = await policy.logprobs(promptIds, ids);
  const segment = { logprobs: null };
  trajectory.calls.push({
    parent: null,
    role,
    policyVersion: version,
    prompt: [
      { owner: "template", ids: promptIds, ...segment },
      { owner: "inserted", ids, ...segment },
    ],
    completion: [],
    finish: "stop",
  });
  return logprobs.reduce((sum, each) => sum + each, 0);
}
