import { z } from "../base/schema.ts";
import { mean, sampleVariance } from "../base/statistics.ts";
import { addressedCredit, creditByAddress } from "./credit.ts";
import { allEqual, defineEstimator, type PlainAdvantage, type Rewarded } from "./estimator.ts";

const options = z.strictObject({
  /** Subtracted from every reward before the batch is whitened: nothing, or the mean of its group (REINFORCE++-baseline). */
  baseline: z.enum(["none", "group-mean"]).default("none"),
  /** Added to the variance. */
  epsilon: z.number().positive().default(1e-8),
  /** What rewards of a call, turn or span move: their own tokens, these and all before, or the whole trajectory. */
  addressed: addressedCredit,
});

/**
 * A = (G − mean) / √(variance + ε) over all trained tokens of the batch, where G is the return of the token's trajectory, less its group's mean
 * or not. A long trajectory counts once for each of its tokens. The variance is the unbiased one (n − 1). A batch of equal returns
 * gives 0.
 *
 * Source: REINFORCE++, arXiv 2501.03262; verl, compute_reinforce_plus_plus_outcome_advantage and its baseline form. OpenRLHF takes the
 * biased variance, which differs by n / (n − 1). Different here: γ is 1, unscorable trajectories leave mean and variance, KL belongs to the loss, and
 * in the baseline form a group of one gets 0, where verl keeps its raw reward.
 *
 * @example returns 1 and 0 of 1 and 3 tokens: mean .25, variance .25, so advantages 1.5 and −.5
 */
export const reinforcePp = defineEstimator({
  name: "reinforce-pp",
  summary:
    "The reward, less its group's mean or not, whitened over the tokens of the batch (REINFORCE++).",
  source: "REINFORCE++, arXiv 2501.03262",
  needsGroups: false,
  options,
  estimate(trajectories, { baseline, epsilon, addressed }) {
    const returns = creditByAddress(trajectories, addressed, (reward, group) =>
      baseline === "none" ? reward : reward - mean(group),
    );
    const counted = trajectories.flatMap((each, i) => trainedReturns(each, returns[i] ?? 0));
    if (allEqual(counted)) return trajectories.map(() => 0);
    const centre = mean(counted);
    const deviation = Math.sqrt(sampleVariance(counted) + epsilon);
    const whitened = (value: number): number => (value - centre) / deviation;
    return trajectories.map(({ reward }, i): PlainAdvantage => {
      const own = returns[i] ?? 0;
      if (reward === null) return 0;
      return typeof own === "number" ? whitened(own) : own.map(whitened);
    });
  },
});

/** The returns at a trajectory's trained tokens; none of one that cannot be scored. */
function trainedReturns({ reward, tokens }: Rewarded, returns: PlainAdvantage): number[] {
  if (reward === null) return [];
  return tokens.trained.flatMap((isTrained, at) =>
    isTrained ? [typeof returns === "number" ? returns : (returns[at] ?? 0)] : [],
  );
}
