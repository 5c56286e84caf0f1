import { scalarLike } from "../autodiff/graph.ts";
import { add, clamp, exp, mul, sub } from "../autodiff/ops/elementwise.ts";
import { z } from "../base/schema.ts";
import { defineLoss, weightedSum } from "./loss.ts";
import { policyGradient, policyGradientOptions, policyGradientSpec } from "./policy-gradient.ts";

const CORRECT = "correct";

const options = policyGradientOptions.omit({ ratio: true }).extend({
  /** λ, the weight of the diversity term. */
  diversityCoef: z.number().nonnegative().default(0.01),
  /** Whose tokens the term is over: those of right answers, or all. */
  diversityOn: z.enum(["correct", "all"]).default("correct"),
});

/** The options of the policy gradient alone. */
const plain = (given: object): object => policyGradientSpec({ ...given, ratio: "token" }).options;

/**
 * The clipped policy gradient, and λ · c · ρ · log π for each token, with ρ = exp(log π − log π_old) and c the reward `correct` of its
 * trajectory: minimising it raises an estimate of the entropy from the sampled tokens, for right answers alone. The gradient flows
 * through ρ and log π. The aggregation is that of the whole loss (paper: sequence-mean).
 *
 * Fields: those of policy-gradient; `correct`, the reward of this name (`{ name: math-verify, as: correct }`), from 0 to 1. The exponent of
 * ρ is limited to ±20.
 *
 * Source: Diversity-Aware Policy Optimization, arXiv 2505.23433: J_Div with λ .01.
 *
 * @example log π −2, log π_old −1, c 1, λ 1: e⁻¹ · (−2) = −.736 is added, and its derivative is e⁻¹ · (−2 + 1) = −.368
 */
export const diversePolicyGradient = defineLoss({
  name: "diverse-policy-gradient",
  summary: "Clipped policy gradient with a diversity term on the tokens of right answers.",
  source: "Diversity-Aware Policy Optimization, arXiv 2505.23433",
  fields: [...policyGradient.fields, CORRECT],
  reads: (given) => policyGradient.reads(plain(given)),
  needsReference: (given) => policyGradient.needsReference(plain(given)),
  options,
  build(inputs, given) {
    const { diversityCoef, diversityOn } = given;
    const { loss, metrics } = policyGradient.build(inputs, plain(given));
    const { logprobs, fields } = inputs;
    const ratio = exp([clamp(sub([logprobs, fields["oldLogprobs"]!]), -20, 20)]);
    const each = mul([ratio, logprobs]);
    const counted = diversityOn === "all" ? each : mul([each, fields[CORRECT]!]);
    const total = weightedSum(fields);
    const term = total(counted);
    return {
      loss: add([loss, mul([term, scalarLike(term, diversityCoef)])]),
      metrics: { ...metrics, "losses/diversity": term },
    };
  },
});
