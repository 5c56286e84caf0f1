import { mean } from "../base/statistics.ts";
import { z } from "../base/schema.ts";

/** KL to the reference as part of the reward. */
export const klRewardSchema = z.strictObject({
  /** β: what a nat of log π_old − log π_ref costs, at each of the policy's tokens. */
  coef: z.number().positive().default(0.001),
  /** With it β adapts towards this KL, nats a token; absent: β stays. */
  target: z.number().positive().optional(),
  /** Trajectories over which β adapts. */
  horizon: z.number().positive().default(10_000),
});

export type KlRewardSettings = z.output<typeof klRewardSchema>;

/**
 * The coefficient after a batch: β · (1 + clip(KL / target − 1, ±.2) · n / horizon).
 *
 * Source: Ziegler et al., arXiv 1909.08593, section 2.2; verl, AdaptiveKLController.
 *
 * @param kl mean over the batch's trajectories of the mean over their tokens, nats.
 * @param trajectories n, of the batch.
 * @example β .1, KL .2, target .1, 100 trajectories, horizon 10 000: .1 · (1 + .2 · .01) = .1002
 */
export function adaptedCoef(
  coef: number,
  { target, horizon }: KlRewardSettings,
  { kl, trajectories }: { kl: number; trajectories: number },
): number {
  if (target === undefined) return coef;
  const error = Math.min(Math.max(kl / target - 1, -0.2), 0.2);
  return coef * (1 + (error * trajectories) / horizon);
}

/** KL per token by k1, log π_old − log π_ref, averaged within trajectories, then over them; NaN marks tokens that do not count. */
export function batchKl(
  batch: readonly { old: readonly number[]; reference: readonly number[] }[],
): number {
  const means = batch.flatMap(({ old, reference }) => {
    const each = old.flatMap((value, i) => {
      const d = value - (reference[i] ?? NaN);
      return Number.isNaN(d) ? [] : [d];
    });
    return each.length === 0 ? [] : [mean(each)];
  });
  return means.length === 0 ? 0 : mean(means);
}
