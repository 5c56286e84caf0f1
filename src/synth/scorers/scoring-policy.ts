import { requireLogprobs, type ScoringPolicy } from "../../rollout/likelihood.ts";
import type { Policy } from "../../rollout/policy.ts";

/**
 * The teacher, if it can tell the likelihood of texts.
 * @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS
 */
export function scoringTeacher(policy: Policy, scorer: string): ScoringPolicy {
  const instead = `Set synth.teacher to { name: model }, or take ${scorer} out.`;
  return requireLogprobs(policy, instead, `synth.scores (${scorer})`);
}

/** Log-probability (nats) of a text after what stands before it: the sum over its tokens, and their number. */
export interface TextLikelihood {
  sum: number;
  tokens: number;
}

/**
 * How likely a text is after a prompt.
 * @returns null when the two do not fit the policy's context, or the text has no token.
 */
export async function likelihoodOf(
  policy: ScoringPolicy,
  promptIds: readonly number[],
  text: string,
): Promise<TextLikelihood | null> {
  const ids = policy.tokenizer.encode(text);
  if (ids.length === 0 || promptIds.length + ids.length > policy.maxPositions) return null;
  const logprobs = await policy.logprobs(promptIds, ids);
  return { sum: logprobs.reduce((sum, each) => sum + each, 0), tokens: ids.length };
}
