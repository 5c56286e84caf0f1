import { NO_HISTORY, type RewardContext, sharedCache } from "../../src/rewards/context.ts";
import { noRoles } from "../../src/trajectory/role.ts";
import type { Reward, RewardOutcome, Scored } from "../../src/rewards/reward.ts";

/** A context without models, at the only step of a run. */
export function rewardContext(changes: Partial<RewardContext> = {}): RewardContext {
  return {
    roles: noRoles,
    retriever: null,
    history: NO_HISTORY,
    step: 0,
    totalSteps: 1,
    cache: sharedCache().of("test", {}),
    signal: new AbortController().signal,
    logprobs: () => Promise.resolve(null),
    tokenLogprobs: (sequences) => Promise.resolve(sequences.map(() => null)),
    sampled: () => null,
    ...changes,
  };
}

/** What a reward gives, under options as a recipe would write them. */
export function scoreWith(
  reward: Reward,
  scored: readonly Scored[],
  options: Record<string, unknown> = {},
  context: RewardContext = rewardContext(),
): Promise<RewardOutcome[]> {
  return reward.score(scored, reward.options.parse(options), context);
}
