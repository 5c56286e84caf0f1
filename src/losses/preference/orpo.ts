import { z } from "../../base/schema.ts";
import { definePreferenceLoss, negLogSigmoid } from "./preference-loss.ts";

const options = z.strictObject({
  /** Weight of the odds-ratio term relative to the likelihood of the chosen text (the paper's λ). */
  beta: z.number().positive().default(0.1),
});

/**
 * −p − β log σ(log odds(p) − log odds(q)), p and q the mean log-probabilities of the chosen and the rejected text, odds(p) = eᵖ / (1 − eᵖ).
 * It includes the likelihood term that other losses add with `sftCoef`, and needs no reference.
 *
 * 1 − eᵖ is computed as −expm1(p), and p is limited to −1e-7: a text with probability 1 has infinite odds.
 */
export const orpo = definePreferenceLoss({
  name: "orpo",
  summary: "Likelihood of the chosen text, plus the odds ratio of chosen and rejected text.",
  source: "ORPO, arXiv 2403.07691, equations 6 and 7",
  needsReference: false,
  options,
  pairLoss({ chosen, rejected }, { beta }) {
    const p = Math.min(chosen.logprob / chosen.tokens, -1e-7);
    const q = Math.min(rejected.logprob / rejected.tokens, -1e-7);
    const { value, slope } = negLogSigmoid(logOdds(p) - logOdds(q));
    // d log odds / d p = 1 / (1 − eᵖ)
    return {
      loss: -p + beta * value,
      gradients: {
        chosen: (-1 - (beta * slope) / Math.expm1(p)) / chosen.tokens,
        rejected: (beta * slope) / Math.expm1(q) / rejected.tokens,
      },
      rewards: { chosen: beta * p, rejected: beta * q },
    };
  },
});

function logOdds(p: number): number {
  return p - Math.log(-Math.expm1(p));
}
