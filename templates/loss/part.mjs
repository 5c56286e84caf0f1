import { defineLoss, ops, reduce, z } from "agentrl";

export default defineLoss({
  name: "soft-ratio",
  summary: "Policy gradient with a hard limit on the ratio instead of the clip of PPO.",
  source: "my own",
  // Fields of the batch that it reads beside weights. All are [K, 1], one number per trained token.
  fields: ["advantages", "oldLogprobs"],
  options: z.strictObject({ limit: z.number().positive().default(2) }),
  build({ logprobs, fields: { advantages, oldLogprobs, weights } }, { limit }) {
    const difference = ops.clamp(ops.sub([logprobs, oldLogprobs]), -20, Math.log(limit));
    const ratio = ops.exp([difference]);
    const perToken = ops.neg([ops.mul([ratio, advantages])]);
    const total = (values) => reduce.reduceSum(ops.mul([values, weights]), [0, 1]);
    return { loss: total(perToken), metrics: { "losses/ratio_mean": total(ratio) } };
  },
});
