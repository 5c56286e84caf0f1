import { z } from "../../base/schema.ts";
import { definePreferenceLoss } from "./preference-loss.ts";

const options = z.strictObject({
  /** The paper's τ: the target margin of the chosen text is 1 / (2β). */
  beta: z.number().positive().default(0.1),
  /** Log-ratios per token, as in the authors' code and TRL; false: their sums, as in the paper. */
  perToken: z.boolean().default(true),
});

/** (d − 1 / (2β))² with d the difference of the log-ratios log π − log π_ref: a margin above the target is penalised too. */
export const ipo = definePreferenceLoss({
  name: "ipo",
  summary: "Regresses the margin between chosen and rejected text to a fixed target.",
  source: "IPO, arXiv 2310.12036, equation 17; means over tokens as in TRL",
  needsReference: true,
  options,
  pairLoss({ chosen, rejected }, { beta, perToken }) {
    const share = {
      chosen: perToken ? 1 / chosen.tokens : 1,
      rejected: perToken ? 1 / rejected.tokens : 1,
    };
    const ratios = {
      chosen: (chosen.logprob - chosen.reference) * share.chosen,
      rejected: (rejected.logprob - rejected.reference) * share.rejected,
    };
    const gap = ratios.chosen - ratios.rejected - 1 / (2 * beta);
    return {
      loss: gap * gap,
      gradients: { chosen: 2 * gap * share.chosen, rejected: -2 * gap * share.rejected },
      rewards: { chosen: beta * ratios.chosen, rejected: beta * ratios.rejected },
    };
  },
});
