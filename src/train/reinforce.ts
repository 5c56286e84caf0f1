/**
 * REINFORCE (Williams, 1992): every token of a trajectory is pushed by its return, less a baseline.
 *
 * Implements −A · log π with γ = 1, no ratio and no clip, one update per batch. `baseline` is nothing, the batch's mean, or the
 * mean of the group's other trajectories (RLOO, arXiv 2402.14740). Changes: none.
 *
 * Run: agentrl train --recipe search-r1 --set algorithm.name=reinforce
 */
import { z } from "../base/schema.ts";
import { onPolicyShape, type OnPolicyAlgorithm } from "./on-policy.ts";

const options = z.strictObject({
  ...onPolicyShape,
  baseline: z.enum(["none", "batch-mean", "leave-one-out"]).default("batch-mean"),
  entropyCoef: z.number().nonnegative().default(0),
});

type ReinforceOptions = z.output<typeof options>;

export const reinforce: OnPolicyAlgorithm = {
  name: "reinforce",
  summary: "Plain policy gradient on returns, with a choice of baseline (REINFORCE, RLOO).",
  source: "Williams, Machine Learning 8, 1992; RLOO, arXiv 2402.14740",
  options,
  estimator: (given) => {
    const { baseline } = given as ReinforceOptions;
    return baseline === "leave-one-out"
      ? { name: "leave-one-out", options: {} }
      : { name: "return", options: { baseline } };
  },
  loss: (given) => {
    const { entropyCoef } = given as ReinforceOptions;
    return { name: "policy-gradient", options: { ratio: "none", entropyCoef } };
  },
};
