import { describe, expect, it } from "vitest";
import type { Rewarded } from "../../src/advantages/estimator.ts";
import { leaveOneOut } from "../../src/advantages/leave-one-out.ts";
import { rewarded } from "../helpers/rewarded.ts";

const of = (...rewards: (number | null)[]): Rewarded[] =>
  rewards.map((reward) => rewarded({ reward }));

describe("leave-one-out advantage", () => {
  it("subtracts the mean of the group's other rewards", () => {
    expect(leaveOneOut.estimate(of(1, 0, 0), {})).toEqual([1, -0.5, -0.5]);
    // 4 − (1 + 3)/2, 1 − (4 + 3)/2, 3 − (4 + 1)/2
    expect(leaveOneOut.estimate(of(4, 1, 3), {})).toEqual([2, -2.5, 0.5]);
  });

  it("leaves what cannot be scored out of the others' mean", () => {
    expect(leaveOneOut.estimate(of(1, null, 0), {})).toEqual([1, 0, -1]);
  });

  it("gives 0 to a group of one, whose raw reward would be no comparison", () => {
    expect(leaveOneOut.estimate(of(7), {})).toEqual([0]);
    expect(leaveOneOut.estimate(of(7, null), {})).toEqual([0, 0]);
  });
});
