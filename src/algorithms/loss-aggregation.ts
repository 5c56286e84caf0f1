/**
 * How token losses of a batch become one number. Each is a weight per token, so that micro-batches add up to the same loss
 * however they are cut: the denominators are those of the whole optimiser step.
 * - token-mean: 1 / tokens of the batch. Long trajectories weigh more (DAPO; verl's default).
 * - sequence-mean: 1 / (rows · tokens of the row). Original GRPO.
 * - fixed-length-mean: 1 / (rows · L), L constant. Dr.GRPO.
 * Rows without a trained token count in no mean.
 */
export const lossAggregations = ["token-mean", "sequence-mean", "fixed-length-mean"] as const;
export type LossAggregation = (typeof lossAggregations)[number];

/**
 * The weight of each trained token, per row.
 *
 * @param tokens trained tokens of each row.
 * @param fixedLength L of fixed-length-mean, tokens.
 * @example tokenWeights("token-mean", [3, 1], 0)        // .25, .25
 * @example tokenWeights("sequence-mean", [3, 1], 0)     // 1/6, 1/2
 * @example tokenWeights("fixed-length-mean", [3, 1], 4) // 1/8, 1/8
 */
export function tokenWeights(
  aggregation: LossAggregation,
  tokens: readonly number[],
  fixedLength: number,
): number[] {
  const rows = tokens.filter((count) => count > 0).length;
  const total = tokens.reduce((sum, count) => sum + count, 0);
  return tokens.map((count) => {
    if (count === 0) return 0;
    switch (aggregation) {
      case "token-mean":
        return 1 / total;
      case "sequence-mean":
        return 1 / (rows * count);
      case "fixed-length-mean":
        return 1 / (rows * fixedLength);
    }
  });
}
