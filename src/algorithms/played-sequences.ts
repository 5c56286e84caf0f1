import { rewardsByToken } from "../advantages/credit.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { rewardedOf } from "./batch-rows.ts";
import { finite, policyRows, tokensOf } from "./training-rows.ts";

/** A sequence of a trajectory for another program that trains on it. All but `prompt` are [response tokens]. */
export interface PlayedSequence {
  prompt: number[];
  response: number[];
  /** 1 where the policy wrote the token. */
  mask: number[];
  /** As it was sampled, nats; 0 where the mask is 0. */
  logprobs: number[];
  /** What the token earned: rewards with an address at the last token of their place, the rest at the trajectory's last one. */
  rewards: number[];
}

/**
 * A scored trajectory as sequences: one, unless its prompts were built anew on the way.
 * @param weights of `weightsAt`.
 */
export function playedSequences(
  trajectory: Trajectory,
  weights: ReadonlyMap<string, number>,
): PlayedSequence[] {
  const rows = policyRows(trajectory, { role: "policy" }).filter((row) => row.trainedTokens > 0);
  const none = { old: null, reference: null, policy: null };
  const tokens = { ...tokensOf(trajectory, rows), logprobs: none, values: null, penalty: null };
  const earned = rewardsByToken(rewardedOf(trajectory, [trajectory], weights, tokens));
  return rows.map((row) => {
    // The first token is no target.
    const start = row.response.indexOf(1);
    const ofMask = (numbers: readonly number[]): number[] =>
      numbers.slice(start).map((each, i) => (row.lossMask[start + i] === 1 ? finite(each) : 0));
    return {
      prompt: row.inputs.slice(0, start + 1),
      response: row.targets.slice(start),
      mask: row.lossMask.slice(start),
      logprobs: ofMask(row.sampledLogprobs),
      rewards: ofMask(row.tokens.map((token) => earned[token] ?? 0)),
    };
  });
}
