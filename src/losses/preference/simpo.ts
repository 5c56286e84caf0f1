import { z } from "../../base/schema.ts";
import { definePreferenceLoss, negLogSigmoid } from "./preference-loss.ts";

const options = z.strictObject({
  beta: z.number().positive().default(2),
  /** Target margin between the rewards of the chosen and the rejected text. */
  gamma: z.number().nonnegative().default(1),
});

/** −log σ(β (mean log π of the chosen − mean log π of the rejected) − γ): length-normalised, without a reference. */
export const simpo = definePreferenceLoss({
  name: "simpo",
  summary: "Raises the chosen text's likelihood per token above the rejected one's by a margin.",
  source: "SimPO, arXiv 2405.14734, equation 6",
  needsReference: false,
  options,
  pairLoss({ chosen, rejected }, { beta, gamma }) {
    const rewards = {
      chosen: (beta * chosen.logprob) / chosen.tokens,
      rejected: (beta * rejected.logprob) / rejected.tokens,
    };
    const { value, slope } = negLogSigmoid(rewards.chosen - rewards.rejected - gamma);
    return {
      loss: value,
      gradients: {
        chosen: (slope * beta) / chosen.tokens,
        rejected: (-slope * beta) / rejected.tokens,
      },
      rewards,
    };
  },
});
