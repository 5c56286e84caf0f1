/**
 * GRPO: group-relative policy optimisation (DeepSeekMath, arXiv 2402.03300), and its relatives by options.
 *
 * Implements: advantages against the group with or without its deviation; the clipped loss with separate bounds; KL to a frozen
 * reference as a loss term (k1, k2, k3); several epochs and minibatches; token-mean, sequence-mean and fixed-length-mean.
 * - the paper: scale group, sequence-mean, klCoef .04; Search-R1's runs: group 5, token-mean, klCoef .001, k3
 * - Dr.GRPO (arXiv 2503.20783): scale none, fixed-length-mean, klCoef 0
 * - DAPO (arXiv 2503.14476): token-mean, clipHigh .28, klCoef 0, sampler refill
 * Leaves out: overlong penalties. Changes: unscorable trajectories leave the group's mean and deviation.
 *
 * Run: agentrl train --recipe search-r1
 */
import { z } from "../base/schema.ts";
import { policyGradientShape, policyGradientSpec } from "../losses/policy-gradient.ts";
import { besideAdvantage, onPolicyShape, defineAlgorithm, ownLossShape } from "./algorithm.ts";

const options = z.strictObject({
  ...onPolicyShape,
  ...ownLossShape({
    ...policyGradientShape,
    /** Weight of KL(policy ‖ reference) in the loss; 0 keeps no reference. */
    klCoef: z.number().nonnegative().default(0.001),
  }),
  /** Divide advantages by the group's deviation (the default), or only subtract its mean. Short for
   * `advantage: {name: group, scale}`. */
  scale: z.enum(["group", "none"]).optional().meta(besideAdvantage),
});

export const grpo = defineAlgorithm({
  name: "grpo",
  summary: "Group-relative policy optimisation, with Dr.GRPO's and DAPO's variants as options.",
  source: "DeepSeekMath, arXiv 2402.03300",
  options,
  estimator: ({ scale }) => ({ name: "group", options: { scale } }),
  losses: (settings) => [policyGradientSpec(settings)],
});
