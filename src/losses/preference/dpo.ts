import { z } from "../../base/schema.ts";
import { definePreferenceLoss, negLogSigmoid } from "./preference-loss.ts";

const options = z.strictObject({
  /** Strength of the KL constraint: a smaller value allows larger distance from the reference. */
  beta: z.number().positive().default(0.1),
  /** Assumed share of pairs with swapped labels. */
  labelSmoothing: z.number().min(0).lt(0.5).default(0),
});

/**
 * −(1 − s) log σ(h) − s log σ(−h) with h = β [(log π − log π_ref) of the chosen − that of the rejected], sums over tokens.
 *
 * When the policy equals the reference, h is 0: the loss is log 2 and the gradients are ∓β (1 − 2s) / 2.
 */
export const dpo = definePreferenceLoss({
  name: "dpo",
  summary:
    "Raises the chosen text's likelihood over the rejected one's, relative to a frozen reference.",
  source:
    "DPO, arXiv 2305.18290, equation 7; label smoothing: its authors' note on conservative DPO",
  needsReference: true,
  options,
  pairLoss({ chosen, rejected }, { beta, labelSmoothing }) {
    const rewards = {
      chosen: beta * (chosen.logprob - chosen.reference),
      rejected: beta * (rejected.logprob - rejected.reference),
    };
    const h = rewards.chosen - rewards.rejected;
    const [right, wrong] = [negLogSigmoid(h), negLogSigmoid(-h)];
    const slope = beta * ((1 - labelSmoothing) * right.slope - labelSmoothing * wrong.slope);
    return {
      loss: (1 - labelSmoothing) * right.value + labelSmoothing * wrong.value,
      gradients: { chosen: slope, rejected: -slope },
      rewards,
    };
  },
});
