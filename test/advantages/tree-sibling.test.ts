import { describe, expect, it } from "vitest";
import { groupAdvantage } from "../../src/advantages/group.ts";
import { treeSibling } from "../../src/advantages/tree-sibling.ts";
import { errorWith } from "../helpers/error-with.ts";
import { rewarded } from "../helpers/rewarded.ts";

const none = { scale: "none" };

describe("tree-sibling advantage", () => {
  it("compares each segment with its siblings, by the mean of their leaves", () => {
    // Two roots of one call; each branches into two leaves of one more call.
    const leaf = (reward: number, of: number | null) =>
      rewarded({ reward, perCall: [1, 1], branch: of === null ? null : { of, calls: 1 } });
    const trajectories = [leaf(1, null), leaf(0, 0), leaf(0, null), leaf(0, 2)];
    // Roots are worth .5 and 0: ±.25. The first's leaves ±.5; the second's are equal.
    expect(treeSibling.estimate(trajectories, none)).toEqual([
      [0.25, 0.25, 0.5, 0.5],
      [0.25, 0.25, -0.5, -0.5],
      [-0.25, -0.25, 0, 0],
      [-0.25, -0.25, 0, 0],
    ]);
  });

  it("values a node by its children, not by its leaves", () => {
    // The root has a leaf of 0 and a child with leaves 1 and 1: (0 + 1) / 2, where the mean of leaves is 2/3.
    const trajectories = [
      rewarded({ reward: 0, perCall: [1, 1] }),
      rewarded({ reward: 1, perCall: [1, 1, 1], branch: { of: 0, calls: 1 } }),
      rewarded({ reward: 1, perCall: [1, 1, 1], branch: { of: 1, calls: 2 } }),
      rewarded({ reward: 0, perCall: [1] }),
    ];
    const [first] = treeSibling.estimate(trajectories, none) as number[][];
    expect(first).toEqual([0.25, 0.25, -0.5, -0.5]);
  });

  it("divides by the deviation of a coin with the siblings' mean, and drops those that hardly differ", () => {
    const leaf = (reward: number, of: number | null) =>
      rewarded({ reward, perCall: [1, 1], branch: of === null ? null : { of, calls: 1 } });
    // Roots are worth .5 and 0, the mean is .25: ±.25 / √(.25 · .75) = ±.57735. Leaves: ±.5 / .5.
    const trajectories = [leaf(1, null), leaf(0, 0), leaf(0, null), leaf(0, 2)];
    const estimate = (options: Record<string, unknown>) =>
      treeSibling.estimate(trajectories, options) as number[][];
    const [first, , third] = estimate({ scale: "bernoulli", epsilon: 1e-12 });
    expect([first![0], first![2], third![0], third![2]]).toEqual(
      [0.57735, 1, -0.57735, 0].map((value) => expect.closeTo(value, 5) as number),
    );
    // The roots deviate by .354, the first's leaves by .707.
    const [pruned] = estimate({ scale: "none", minDeviation: 0.5 });
    expect(pruned).toEqual([0, 0, 0.5, 0.5]);
    const beyond = [rewarded({ reward: 2, perCall: [1] }), rewarded({ reward: 1, perCall: [1] })];
    expect(() => treeSibling.estimate(beyond, { scale: "bernoulli" })).toThrow(
      errorWith("REWARD_FAILED", /mean reward of 1\.5/),
    );
  });

  it("gives an only child its parent's advantage", () => {
    const [first] = treeSibling.estimate(
      [rewarded({ reward: 1, perCall: [1, 1] }), rewarded({ reward: 0, perCall: [1] })],
      none,
    );
    expect(first).toEqual([0.5, 0.5, 0.5, 0.5]);
  });

  it("is the group estimator where nothing branches", () => {
    const flat = [1, 0, 0, null].map((reward) => rewarded({ reward, perCall: [2] }));
    const expected = groupAdvantage.estimate(flat, {}) as number[];
    expect(treeSibling.estimate(flat, {})).toEqual(expected.map((each) => [each, each, each]));
  });
});
