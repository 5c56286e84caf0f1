/**
 * REINFORCE (Williams, 1992): every token of a trajectory is pushed by its return, less a baseline.
 *
 * Implements −A · log π with γ = 1, one update per batch; by options a clipped ratio to the sampling policy (`ratio: token`) and KL to a
 * frozen reference in the loss. `baseline` is nothing, the batch's mean, or the mean of the group's other trajectories (RLOO,
 * arXiv 2402.14740).
 * - ZeroSearch's REINFORCE (arXiv 2505.04588): klCoef .001, k3
 * - SPEED-RL's RLOO (arXiv 2506.09016): baseline leave-one-out, ratio token, clip .2 and .2, dualClip 10
 * Changes: none.
 *
 * Run: agentrl train --recipe search-r1 --set algorithm.name=reinforce
 */
import { z } from "../base/schema.ts";
import { policyGradientShape, policyGradientSpec } from "../losses/policy-gradient.ts";
import { besideAdvantage, onPolicyShape, defineAlgorithm, ownLossShape } from "./algorithm.ts";

const options = z.strictObject({
  ...onPolicyShape,
  ...ownLossShape({
    ...policyGradientShape,
    /** none: no ratio and no clip. token: the clipped ratio of PPO, per token. */
    ratio: z.enum(["none", "token"]).default("none"),
    /** Weight of KL(policy ‖ reference) in the loss; 0 keeps no reference. */
    klCoef: z.number().nonnegative().default(0),
  }),
  /** The batch's mean when absent. Short for `advantage`: `return` with its baseline, or `leave-one-out`. */
  baseline: z.enum(["none", "batch-mean", "leave-one-out"]).optional().meta(besideAdvantage),
});

export const reinforce = defineAlgorithm({
  name: "reinforce",
  summary: "Plain policy gradient on returns, with a choice of baseline (REINFORCE, RLOO).",
  source: "Williams, Machine Learning 8, 1992; RLOO, arXiv 2402.14740",
  options,
  estimator: ({ baseline = "batch-mean" }) => {
    return baseline === "leave-one-out"
      ? { name: "leave-one-out", options: {} }
      : { name: "return", options: { baseline } };
  },
  losses: (settings) => [policyGradientSpec(settings)],
});
