import { describe, expect, it } from "vitest";
import { registry } from "../../src/base/registry.ts";
import { z } from "../../src/base/schema.ts";
import { answerExpectations } from "../../src/rewards/expectations.ts";
import type { Reward, RewardResult, Scored } from "../../src/rewards/reward.ts";
import { scoreTrajectories } from "../../src/rollout/score.ts";
import { answered, task } from "../helpers/search-world.ts";

/** A reward that gives what a function says and notes what it was shown at once. */
function reward(name: string, scope: Reward["scope"], give: (id: string) => RewardResult) {
  const shown: string[][] = [];
  const part: Reward = {
    ...{ name, scope, summary: "For tests.", source: "test", range: [-9, 9] },
    expects: answerExpectations(),
    options: z.strictObject({}),
    score: (scored) => {
      shown.push(scored.map(({ trajectory }) => trajectory.id));
      return Promise.resolve(scored.map(({ trajectory }) => give(trajectory.id)));
    },
  };
  return { part, shown };
}

const of = (id: string, groupId = "group"): Scored => {
  return { task, trajectory: answered("Oslo", { id, groupId }) };
};
const use = (name: string, weight = 1) => ({ name, weight, options: {} });

describe("scoreTrajectories", () => {
  it("adds rewards by their weights and keeps each by name", async () => {
    const scored = [of("one"), { ...of("two"), trajectory: answered("Oslo Norway") }];
    await scoreTrajectories(scored, [use("exact-match"), use("token-f1", 0.5)]);
    expect(scored[0]!.trajectory).toMatchObject({
      reward: 1.5,
      rewards: [
        { name: "exact-match", value: 1, at: null },
        { name: "token-f1", value: 1, at: null },
      ],
    });
    expect(scored[1]!.trajectory.reward).toBeCloseTo(1 / 3, 12);
  });

  it("records a reward of weight 0 and leaves it out of the sum, null or not", async () => {
    const { part } = reward("watched", "trajectory", (id) => (id === "one" ? 5 : null));
    const scored = [of("one"), of("two")];
    const known = registry<Reward>("reward", [part, reward("base", "trajectory", () => 2).part]);
    await scoreTrajectories(scored, [use("watched", 0), use("base")], known);
    expect(scored.map(({ trajectory }) => trajectory.reward)).toEqual([2, 2]);
    expect(scored.map(({ trajectory }) => trajectory.rewards[0]?.value)).toEqual([5, null]);
  });

  it("gives null to what any weighted reward cannot score, in either order", async () => {
    const known = registry<Reward>("reward", [
      reward("some", "trajectory", (id) => (id === "one" ? 1 : null)).part,
      reward("base", "trajectory", () => 2).part,
    ]);
    for (const weighted of [
      [use("some"), use("base")],
      [use("base"), use("some")],
    ]) {
      const scored = [of("one"), of("two")];
      await scoreTrajectories(scored, weighted, known);
      expect(scored.map(({ trajectory }) => trajectory.reward)).toEqual([3, null]);
    }
  });

  it("gives null to a trajectory that ended in an error, and records its rewards", async () => {
    const error = { boundary: "tool", code: "TOOL_FAILED", message: "tool: HTTP 503" };
    const failed = { task, trajectory: answered(null, { end: "tool-error", error }) };
    await scoreTrajectories([failed], [use("exact-match")]);
    expect(failed.trajectory).toMatchObject({ reward: null, rewards: [{ value: 0 }] });
  });

  it("shows a reward of group scope one group at once, wherever its members stand", async () => {
    const { part, shown } = reward("relative", "group", (id) => Number(id.slice(1)));
    const scored = [of("a1", "a"), of("b2", "b"), of("a3", "a")];
    await scoreTrajectories(scored, [use("relative")], registry<Reward>("reward", [part]));
    expect(shown).toEqual([["a1", "a3"], ["b2"]]);
    expect(scored.map(({ trajectory }) => trajectory.reward)).toEqual([1, 2, 3]);
  });

  it("shows a reward of batch scope everything at once", async () => {
    const { part, shown } = reward("ranked", "batch", () => 0);
    await scoreTrajectories(
      [of("a1", "a"), of("b2", "b")],
      [use("ranked")],
      registry<Reward>("reward", [part]),
    );
    expect(shown).toEqual([["a1", "b2"]]);
  });

  it("keeps the addresses of values and adds them all up", async () => {
    const { part } = reward("turns", "trajectory", () => [
      { value: 0.5, call: 0 },
      { value: -2, call: 1, token: 7 },
    ]);
    const scored = [of("one")];
    const known = registry<Reward>("reward", [part, reward("none", "trajectory", () => []).part]);
    await scoreTrajectories(scored, [use("turns", 2), use("none")], known);
    expect(scored[0]!.trajectory).toMatchObject({
      reward: -3,
      rewards: [
        { name: "turns", value: 0.5, at: { call: 0 } },
        { name: "turns", value: -2, at: { call: 1, token: 7 } },
      ],
    });
  });

  it("names the nearest reward for one that there is not", async () => {
    await expect(scoreTrajectories([], [use("exact_match")])).rejects.toThrow(
      /Did you mean "exact-match"/,
    );
  });
});
