import { describe, expect, it } from "vitest";
import { returnAdvantage } from "../../src/advantages/return.ts";
import { rewarded } from "../helpers/rewarded.ts";

const batch = [1, 0, null, 0.5].map((reward, i) =>
  rewarded({ groupId: i < 2 ? "a" : "b", reward }),
);

describe("return advantage", () => {
  it("is the reward itself without a baseline", () => {
    expect(returnAdvantage.estimate(batch, {})).toEqual([1, 0, 0, 0.5]);
  });

  it("subtracts the mean of the batch's scorable rewards, whatever their groups", () => {
    expect(returnAdvantage.estimate(batch, { baseline: "batch-mean" })).toEqual([0.5, -0.5, 0, 0]);
  });

  it("subtracts nothing of a batch that nothing could score", () => {
    const none = batch.map((each) => ({ ...each, reward: null }));
    expect(returnAdvantage.estimate(none, { baseline: "batch-mean" })).toEqual([0, 0, 0, 0]);
  });
});
