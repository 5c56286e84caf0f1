import { inputOnce, scalarLike, type Value } from "../autodiff/graph.ts";
import {
  add,
  castTo,
  clamp,
  div,
  exp,
  greater,
  max,
  min,
  mul,
  neg,
  stopGradient,
  sub,
} from "../autodiff/ops/elementwise.ts";
import { gather, scatterNd } from "../autodiff/ops/indexing.ts";
import { expand, reshape } from "../autodiff/ops/shape.ts";
import { z } from "../base/schema.ts";
import { defineLoss, PLACES, weightedSum } from "./loss.ts";

/**
 * PPO's clipped loss with one ratio for a whole row, s = exp(mean over its tokens of log π − log π_old): −min(sA, clip(s) A). A row is
 * what the model reads at once: a trajectory, or each of its contexts. Every token carries the row's ratio and its own gradient:
 * log s_t = sg(log s) + log π − sg(log π), limited to 10.
 *
 * Fields: `advantages`, `oldLogprobs`, `rowOffsets`. The paper's aggregation is `lossAggregation: sequence-mean`.
 *
 * Source: GSPO, arXiv 2507.18071, equations 5 and 7 and, token by token, 17; the default bounds are those of its section 5.1, far
 * below PPO's, because the mean over a row's tokens varies less than a token. verl, compute_policy_loss_gspo.
 */
export const gspo = defineLoss({
  name: "gspo",
  summary:
    "PPO's clipped loss with one ratio for a whole sequence, the geometric mean of its tokens'.",
  source: "GSPO, arXiv 2507.18071, equations 5 and 17; verl, compute_policy_loss_gspo",
  fields: ["advantages", "oldLogprobs", "rowOffsets"],
  options: z.strictObject({
    clipLow: z.number().positive().max(1).default(3e-4),
    clipHigh: z.number().positive().default(4e-4),
  }),
  build({ logprobs, fields }, { clipLow, clipHigh }) {
    const advantages = fields["advantages"]!;
    const total = weightedSum(fields);
    const d = sub([logprobs, fields["oldLogprobs"]!]);
    const ofRow = rowMean(stopGradient([d]), fields["rowOffsets"]!);
    const exponent = add([ofRow, sub([logprobs, stopGradient([logprobs])])]);
    const ratio = exp([min([exponent, scalarLike(exponent, 10)])]);
    const free = mul([ratio, advantages]);
    const limited = mul([clamp(ratio, 1 - clipLow, 1 + clipHigh), advantages]);
    const k3 = sub([exp([clamp(d, -20, 20)]), add([d, scalarLike(d, 1)])]);
    return {
      loss: total(neg([min([free, limited])])),
      metrics: {
        "losses/clip_fraction": total(castTo(greater([free, limited]), "float32")),
        "losses/approx_kl": total(k3),
      },
    };
  },
});

/**
 * The mean of a row's tokens, at each of them. Tokens of a row follow one another, so that one's place less its offset is the place of the
 * row's first token, under which the sums are kept. Padding has offset 0: each is a row of its own.
 */
function rowMean(values: Value, offsets: Value): Value {
  const { graph, shape } = values;
  const first = castTo(sub([inputOnce(graph, PLACES, "float32", shape), offsets]), "int64");
  const zeros = expand(scalarLike(values, 0), shape);
  const sums = (of: Value): Value => scatterNd([zeros, first, of], { reduction: "add" });
  const counts = max([sums(expand(scalarLike(values, 1), shape)), scalarLike(values, 1)]);
  return gather([div([sums(values), counts]), reshape(first, [shape[0]!])]);
}
