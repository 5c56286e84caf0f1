import { scalarLike, type Value } from "../autodiff/graph.ts";
import {
  add,
  castTo,
  clamp,
  exp,
  greater,
  less,
  min,
  mul,
  neg,
  sub,
  where,
} from "../autodiff/ops/elementwise.ts";
import { z } from "../base/schema.ts";
import { allIgnoredWhen, ignoredWhen } from "../base/setting-effect.ts";
import { klEstimators, klPenalty } from "./kl.ts";
import { defineLoss, type LossSpec, weightedSum } from "./loss.ts";

/** Its options but for those whose default an algorithm chooses: `ratio` and `klCoef`. */
export const policyGradientShape = {
  ...allIgnoredWhen(
    {
      /** The ratio counts down to 1 − clipLow. */
      clipLow: z.number().positive().max(1).default(0.2),
      /** The ratio counts up to 1 + clipHigh. */
      clipHigh: z.number().positive().default(0.2),
      /** Bounds the loss of negative advantages (verl: 3); null is off. */
      dualClip: z.number().min(1).nullable().default(null),
      /** Truncated importance sampling: tokens weigh π_old / π_sampled, at most so much (verl: 2). Off when absent. */
      importanceSamplingCap: z
        .number()
        .positive()
        .optional()
        .meta(
          ignoredWhen(
            { "algorithm.oldLogprobs": "sampled" },
            "Set algorithm.oldLogprobs: recomputed, or remove it",
          ),
        ),
    },
    { ratio: "none" },
  ),
  klEstimator: z
    .enum(klEstimators)
    .default("k3")
    .meta(ignoredWhen({ klCoef: 0 })),
  entropyCoef: z.number().nonnegative().default(0),
};

export const policyGradientOptions = z.strictObject({
  ratio: z.enum(["token", "none"]).default("token"),
  klCoef: z.number().nonnegative().default(0),
  ...policyGradientShape,
});

/**
 * Clipped policy gradient: −min(ρA, clip(ρ, 1 − clipLow, 1 + clipHigh) A) with ρ = exp(log π − log π_old), plus a KL penalty.
 *
 * Fields: `advantages`, `oldLogprobs`; `refLogprobs` when `klCoef` is not 0. The exponent of ρ is limited to ±20 (verl, OpenRLHF).
 * `importanceSamplingCap` C corrects for a sampler that computes another distribution than the trainer: the clipped loss is multiplied by
 * min(exp(log π_old − log π_sampled), C), without gradient; it reads the field `sampledLogprobs`.
 * `ratio: none` is REINFORCE: −A · log π, without ratio and clip. `dualClip` c limits the loss of negative advantages to −cA
 * (arXiv 1912.09729); null disables it.
 *
 * Source: PPO, arXiv 1707.06347, equation 7; asymmetric clip: DAPO, arXiv 2503.14476; KL in the loss: GRPO, arXiv 2402.03300; truncated
 * importance sampling: Yao et al., "Your efficient RL framework secretly brings you off-policy RL training" (2025), as in verl.
 */
export const policyGradient = defineLoss({
  name: "policy-gradient",
  summary: "Clipped policy gradient on token advantages, with an optional KL penalty.",
  source: "PPO, arXiv 1707.06347, equation 7; DAPO, arXiv 2503.14476; GRPO, arXiv 2402.03300",
  fields: ["advantages", "oldLogprobs", "refLogprobs", "sampledLogprobs"],
  reads: ({ entropyCoef }) => (entropyCoef > 0 ? ["logprobs", "entropy"] : ["logprobs"]),
  needsReference: ({ klCoef }) => klCoef > 0,
  options: policyGradientOptions,
  build(inputs, options) {
    const { logprobs, fields } = inputs;
    const advantages = fields["advantages"]!;
    const metrics: Record<string, Value> = {};
    const total = weightedSum(fields);
    let perToken: Value;
    if (options.ratio === "none") {
      perToken = neg([mul([advantages, logprobs])]);
    } else {
      const old = fields["oldLogprobs"]!;
      const ratio = exp([clamp(sub([logprobs, old]), -20, 20)]);
      const clipped = clamp(ratio, 1 - options.clipLow, 1 + options.clipHigh);
      const free = mul([ratio, advantages]);
      const limited = mul([clipped, advantages]);
      perToken = neg([min([free, limited])]);
      if (options.dualClip !== null) {
        const bound = mul([advantages, scalarLike(advantages, -options.dualClip)]);
        const isNegative = less([advantages, scalarLike(advantages, 0)]);
        perToken = where([isNegative, min([perToken, bound]), perToken]);
      }
      if (options.importanceSamplingCap !== undefined) {
        const apart = exp([clamp(sub([old, fields["sampledLogprobs"]!]), -20, 20)]);
        const cap = scalarLike(apart, options.importanceSamplingCap);
        const weight = min([apart, cap]);
        perToken = mul([perToken, weight]);
        metrics["mismatch/weight"] = total(weight);
        metrics["mismatch/truncated_share"] = total(castTo(greater([apart, cap]), "float32"));
      }
      metrics["losses/clip_fraction"] = total(castTo(greater([free, limited]), "float32"));
      // Schulman's k3 with the opposite sign: KL(old ‖ new) ≥ 0 on the tokens of this batch.
      const d = sub([logprobs, old]);
      metrics["losses/approx_kl"] = total(sub([sub([ratio, scalarLike(ratio, 1)]), d]));
    }
    if (options.klCoef > 0) {
      const penalty = klPenalty(options.klEstimator, logprobs, fields["refLogprobs"]!);
      metrics["losses/kl"] = total(penalty);
      perToken = add([perToken, mul([penalty, scalarLike(penalty, options.klCoef)])]);
    }
    if (options.entropyCoef > 0) {
      const entropy = inputs.entropy();
      metrics["losses/entropy"] = total(entropy);
      perToken = sub([perToken, mul([entropy, scalarLike(entropy, options.entropyCoef)])]);
    }
    return { loss: total(perToken), metrics };
  },
});

/** This loss with those of an algorithm's options that are its own. */
export function policyGradientSpec(given: Readonly<Record<string, unknown>>): LossSpec {
  const { name, options } = policyGradient;
  const own = Object.entries(given).filter(([key]) => key in options.shape);
  return { name, options: Object.fromEntries(own) };
}
