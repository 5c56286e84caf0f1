import { neg } from "../autodiff/ops/elementwise.ts";
import { z } from "../base/schema.ts";
import { defineLoss, weightedSum } from "./loss.ts";

/** Negative log-likelihood of the targets; `weights` may differ per token (retrieved text with a small weight) or per row. */
export const crossEntropy = defineLoss({
  name: "cross-entropy",
  summary: "Weighted negative log-likelihood of the targets.",
  source: "maximum likelihood",
  fields: [],
  options: z.strictObject({}),
  build({ logprobs, fields }) {
    const loss = weightedSum(fields)(neg([logprobs]));
    return { loss, metrics: {} };
  },
});
