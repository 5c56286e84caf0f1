import { describe, expect, it } from "vitest";
import { filters } from "../../src/algorithms/filters/index.ts";
import type { RolloutGroup } from "../../src/algorithms/scored-group.ts";
import { answered } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

function group(groupId: string, rewards: readonly (number | null)[], em?: number): RolloutGroup {
  const own = em === undefined ? [] : [{ name: "em", value: em, at: null }];
  const trajectories = rewards.map((reward) => answered("x", { groupId, reward, rewards: own }));
  return { groupId, trajectories };
}

function keep(name: string, groups: RolloutGroup[], given: Record<string, unknown> = {}): string[] {
  const part = filters.get(name, "test");
  return part.keep(groups, part.options.parse(given)).map(({ groupId }) => groupId);
}

describe("filters", () => {
  const groups = [group("a", [1, 1]), group("b", [1, 0]), group("c", [1, 1, 1, 0]), group("d", [])];

  it("zero-variance drops groups whose scores are all equal, or that have none", () => {
    expect(keep("zero-variance", groups)).toEqual(["b", "c"]);
    expect(keep("zero-variance", [group("e", [2, 1], 1)], { reward: "em" })).toEqual([]);
  });

  it("zero-variance gives free places to the groups that stay, in turn", () => {
    expect(keep("zero-variance", groups, { fill: true })).toEqual(["b", "c", "b", "c"]);
    expect(keep("zero-variance", [group("e", [1, 1])], { fill: true })).toEqual([]);
  });

  it("mean-band keeps means within its ends, both included", () => {
    expect(keep("mean-band", groups, { low: 0.5, high: 0.75 })).toEqual(["b", "c"]);
    expect(keep("mean-band", groups, { low: 0.6, high: 0.75 })).toEqual(["c"]);
  });

  it("top-deviation keeps the share that differs most, the earlier of equals", () => {
    // Deviations: 0, √½, ½, 0.
    expect(keep("top-deviation", groups, { share: 0.25 })).toEqual(["b"]);
    expect(keep("top-deviation", groups, { share: 0.5 })).toEqual(["b", "c"]);
    expect(keep("top-deviation", groups, { share: 0.75 })).toEqual(["a", "b", "c"]);
  });
});
