import { definePreferenceLoss, z } from "agentrl";

export default definePreferenceLoss({
  name: "hinge",
  summary: "Hinge loss on the difference of both log-probabilities.",
  source: "SLiC-HF, arXiv 2305.10425, without its regulariser",
  options: z.strictObject({ margin: z.number().positive().default(1) }),
  // Sums of log-probabilities, in nats. `reference` is there where needsReference is true.
  pairLoss({ chosen, rejected }, { margin }) {
    const loss = Math.max(0, margin - chosen.logprob + rejected.logprob);
    const slope = loss > 0 ? 1 : 0;
    return {
      loss,
      gradients: { chosen: -slope, rejected: slope },
      rewards: { chosen: chosen.logprob, rejected: rejected.logprob },
    };
  },
});
