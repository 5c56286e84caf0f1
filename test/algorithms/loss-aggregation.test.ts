import { describe, expect, it } from "vitest";
import { lossAggregations, tokenWeights } from "../../src/algorithms/loss-aggregation.ts";

describe("tokenWeights", () => {
  it("weighs every token alike in token-mean", () => {
    expect(tokenWeights("token-mean", [3, 1], 0)).toEqual([1 / 4, 1 / 4]);
  });

  it("weighs every row alike in sequence-mean", () => {
    expect(tokenWeights("sequence-mean", [3, 1], 0)).toEqual([1 / 6, 1 / 2]);
  });

  it("divides by rows and a constant in fixed-length-mean", () => {
    expect(tokenWeights("fixed-length-mean", [3, 1], 4)).toEqual([1 / 8, 1 / 8]);
  });

  it("counts rows without a trained token in no mean", () => {
    expect(tokenWeights("token-mean", [3, 0, 1], 4)).toEqual([1 / 4, 0, 1 / 4]);
    expect(tokenWeights("sequence-mean", [3, 0, 1], 4)).toEqual([1 / 6, 0, 1 / 2]);
    expect(tokenWeights("fixed-length-mean", [3, 0, 1], 4)).toEqual([1 / 8, 0, 1 / 8]);
  });

  it("gives 0 and no NaN when nothing is trained", () => {
    for (const each of lossAggregations) expect(tokenWeights(each, [0, 0], 4)).toEqual([0, 0]);
  });

  it("makes the mean of both token-mean and sequence-mean out of all weights together", () => {
    for (const each of ["token-mean", "sequence-mean"] as const) {
      const tokens = [5, 2, 0, 9];
      const weights = tokenWeights(each, tokens, 1);
      expect(weights.reduce((sum, weight, i) => sum + weight * tokens[i]!, 0)).toBeCloseTo(1, 12);
    }
  });
});
