import { scalarLike } from "../autodiff/graph.ts";
import {
  castTo,
  clamp,
  exp,
  greater,
  mul,
  neg,
  stopGradient,
  sub,
} from "../autodiff/ops/elementwise.ts";
import { z } from "../base/schema.ts";
import { defineLoss, weightedSum } from "./loss.ts";

/**
 * Policy gradient weighted by a clipped ratio that has no gradient: −sg(clip(ρ, 1 − clipLow, 1 + clipHigh)) · A · log π with
 * ρ = exp(log π − log π_old). Unlike under PPO's clip, every token keeps a gradient.
 *
 * Fields: `advantages`, `oldLogprobs`. The exponent of ρ is limited to ±20, as in verl.
 *
 * Source: CISPO, MiniMax-M1, arXiv 2506.13585, equation 4. It sets no lower bound (`clipLow: 1`) and does not publish the upper one; the
 * defaults are verl's.
 */
export const cispo = defineLoss({
  name: "cispo",
  summary: "Policy gradient weighted by a clipped ratio without a gradient: no token is dropped.",
  source: "MiniMax-M1, arXiv 2506.13585, equation 4; verl, compute_policy_loss_cispo",
  fields: ["advantages", "oldLogprobs"],
  options: z.strictObject({
    /** At 1 there is no lower bound. */
    clipLow: z.number().positive().max(1).default(0.2),
    clipHigh: z.number().positive().default(0.2),
  }),
  build({ logprobs, fields }, { clipLow, clipHigh }) {
    const advantages = fields["advantages"]!;
    const total = weightedSum(fields);
    const d = sub([logprobs, fields["oldLogprobs"]!]);
    const ratio = exp([clamp(d, -20, 20)]);
    const clipped = clamp(ratio, 1 - clipLow, 1 + clipHigh);
    const perToken = neg([mul([mul([stopGradient([clipped]), advantages]), logprobs])]);
    const distance = sub([ratio, clipped]);
    return {
      loss: total(perToken),
      metrics: {
        "losses/clip_fraction": total(
          castTo(greater([mul([distance, distance]), scalarLike(ratio, 0)]), "float32"),
        ),
        "losses/approx_kl": total(sub([sub([ratio, scalarLike(ratio, 1)]), d])),
      },
    };
  },
});
