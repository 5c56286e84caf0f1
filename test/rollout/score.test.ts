import { describe, expect, it } from "vitest";
import { registry } from "../../src/base/registry.ts";
import { RolloutError } from "../../src/base/errors.ts";
import { z } from "../../src/base/schema.ts";
import { sharedCache } from "../../src/rewards/context.ts";
import { rewardExpression } from "../../src/rewards/expression/expression.ts";
import {
  defineReward,
  type Reward,
  type RewardResult,
  type Scored,
} from "../../src/rewards/reward.ts";
import { scoreTrajectories, weightsAt } from "../../src/rollout/score.ts";
import type { Call } from "../../src/trajectory/trajectory.ts";
import type { Role } from "../../src/trajectory/role.ts";
import { errorWith } from "../helpers/error-with.ts";
import { answered, task, tokenizer } from "../helpers/search-world.ts";

/** A reward that gives what a function says and notes what it was shown at once. */
function reward(name: string, scope: Reward["scope"], give: (id: string) => RewardResult) {
  const shown: string[][] = [];
  const part: Reward = {
    name,
    scope,
    summary: "For tests.",
    source: "test",
    range: [-9, 9],
    kind: "shaping",
    options: z.strictObject({}),
    isPlaced: () => true,
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
const EMPTY_CALL: Call = {
  parent: null,
  role: "policy",
  policyVersion: 0,
  prompt: [],
  completion: [],
  finish: "stop",
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
    await scoreTrajectories(scored, [use("watched", 0), use("base")], { registry: known });
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
      await scoreTrajectories(scored, weighted, { registry: known });
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
    await scoreTrajectories(scored, [use("relative")], {
      registry: registry<Reward>("reward", [part]),
    });
    expect(shown).toEqual([["a1", "a3"], ["b2"]]);
    expect(scored.map(({ trajectory }) => trajectory.reward)).toEqual([1, 2, 3]);
  });

  it("shows a reward of batch scope everything at once", async () => {
    const { part, shown } = reward("ranked", "batch", () => 0);
    await scoreTrajectories([of("a1", "a"), of("b2", "b")], [use("ranked")], {
      registry: registry<Reward>("reward", [part]),
    });
    expect(shown).toEqual([["a1", "b2"]]);
  });

  it("asks a lazy reward about the trajectories at which the expression reads its value, each once", async () => {
    const rule = reward("rule", "trajectory", (id) => (id === "right" ? 1 : 0));
    const strict = reward("strict", "trajectory", (id) => (id === "like" ? 1 : 0));
    const loose = reward("loose", "trajectory", (id) => (id === "far" ? 0 : 1));
    const known = registry<Reward>("reward", [rule.part, loose.part, strict.part]);
    const weighted = [use("rule", 0), ...["loose", "strict"].map((name) => ({ ...use(name, 0), lazy: true }))]; // prettier-ignore
    const expression = rewardExpression("rule or 0.5 * (strict and loose)", ["rule", "loose", "strict"]); // prettier-ignore
    const scored = ["right", "like", "near", "far"].map((id) => of(id));
    const score = () => scoreTrajectories(scored, weighted, { registry: known, expression });
    await score();
    await score();
    expect(rule.shown).toEqual([["right", "like", "near", "far"]]);
    expect(strict.shown).toEqual([["like", "near", "far"]]);
    expect(loose.shown).toEqual([["like"]]);
    expect(scored.map(({ trajectory }) => trajectory.reward)).toEqual([1, 1, 0, 0]);
    const names = scored.map(({ trajectory }) => trajectory.rewards.map(({ name }) => name));
    expect(names).toEqual([["rule"], ["rule", "loose", "strict"], ["rule", "strict"], ["rule", "strict"]]); // prettier-ignore
  });

  it("refuses a lazy reward that compares trajectories", async () => {
    const { part } = reward("relative", "group", () => 0);
    const lazy = { ...use("relative", 0), lazy: true };
    const expression = rewardExpression("relative", ["relative"]);
    await expect(
      scoreTrajectories([of("one")], [lazy], { registry: registry("reward", [part]), expression }),
    ).rejects.toThrow(errorWith("RECIPE_BAD_VALUE", /compares the trajectories of a group/));
  });

  it("scores what a later call adds, and again only the groups and batches that it is added to", async () => {
    let made = 0;
    const parts = (["trajectory", "group", "batch"] as const).map((scope) =>
      reward(scope, scope, () => ++made % 9),
    );
    const known = registry<Reward>("reward", parts.map(({ part }) => part)); // prettier-ignore
    const weighted = ["trajectory", "group", "batch"].map((name) => use(name, 0));
    const expression = rewardExpression("group_mean(trajectory)", ["trajectory", "group", "batch"]);
    const scored = [of("a1", "a"), of("b1", "b")];
    const score = () => scoreTrajectories(scored, weighted, { registry: known, expression });
    await score();
    const [first] = scored[0]!.trajectory.rewards;
    scored.push(of("a2", "a"));
    await score();
    await score();
    const [each, group, batch] = parts.map(({ shown }) => shown);
    expect(each).toEqual([["a1", "b1"], ["a2"]]);
    expect(group).toEqual([["a1"], ["b1"], ["a1", "a2"]]);
    expect(batch).toEqual([
      ["a1", "b1"],
      ["a1", "b1", "a2"],
    ]);
    const names = scored.map(({ trajectory }) => trajectory.rewards.map(({ name }) => name));
    expect(names).toEqual(scored.map(() => ["trajectory", "group", "batch"]));
    expect(scored[0]!.trajectory.rewards[0]).toEqual(first);
    const valueOf = (i: number) => scored[i]!.trajectory.rewards[0]!.value!;
    const mean = (valueOf(0) + valueOf(2)) / 2;
    expect(scored.map(({ trajectory }) => trajectory.reward)).toEqual([mean, valueOf(1), mean]);
  });

  it("keeps the addresses of values and adds them all up", async () => {
    const { part } = reward("turns", "trajectory", () => [
      { value: 0.5, call: 0 },
      { value: -2, call: 1, token: 7 },
    ]);
    const scored = [of("one")];
    scored[0]!.trajectory.calls = [EMPTY_CALL, EMPTY_CALL];
    const known = registry<Reward>("reward", [part, reward("none", "trajectory", () => []).part]);
    await scoreTrajectories(scored, [use("turns", 2), use("none")], { registry: known });
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

  it("records a reward under its alias", async () => {
    const scored = [of("one")];
    await scoreTrajectories(scored, [{ ...use("exact-match"), as: "em" }]);
    expect(scored[0]!.trajectory.rewards).toEqual([{ name: "em", value: 1, at: null }]);
  });

  const text = "Oslo is the capital";
  const call = { parent: null, role: "policy", policyVersion: 0, prompt: [] };
  const turn = { text, actions: [], problems: [], observations: [] };

  it("puts a turn's value at its call, and a span's at the tokens that wrote it", async () => {
    const [is, the] = [text.indexOf("is"), text.indexOf("the")];
    const { part } = reward("spans", "trajectory", () => [
      { value: 1, turn: 0 },
      { value: 2, turn: 0, span: [is, the + 3] },
      { value: 3, turn: 1, span: [0, 4] },
    ]);
    const completion = ["<answer>", " Oslo", " is", " the", " capital"].map((each) => {
      return { owner: "policy" as const, ids: tokenizer.encode(each), logprobs: null };
    });
    const trajectory = answered("Oslo", {
      calls: [
        { ...call, completion: [], finish: "stop" },
        { ...call, completion, finish: "stop" },
        { ...call, completion: [], finish: "stop" },
      ],
      // The tokens of the second turn are a server's own.
      turns: [
        { ...turn, call: 1 },
        { ...turn, call: 2 },
      ],
    });
    const registered = { registry: registry<Reward>("reward", [part]), tokenizer };
    await scoreTrajectories([{ task, trajectory }], [use("spans")], registered);
    // <answer> is token 0 and " Oslo" is one token, as are " is" and " the".
    expect(trajectory.rewards.map(({ at }) => at)).toEqual([
      { call: 1 },
      { call: 1, token: 2, endToken: 4 },
      { call: 2 },
    ]);
    expect(trajectory.reward).toBe(6);
  });

  it("tells a reward with what probability the policy wrote some characters", async () => {
    const is = text.indexOf("is");
    const found: (readonly number[] | null)[] = [];
    const part = defineReward({
      name: "reads",
      summary: "For tests.",
      score: ({ trajectory }, _, { sampled }) => {
        for (const turn of [0, 1]) found.push(sampled(trajectory, turn, [is, is + 6]));
        return 0;
      },
    });
    const pieces = ["<answer>", " Oslo", " is", " the", " capital"];
    const written = pieces.map((each, i) => {
      const ids = tokenizer.encode(each);
      // The second word was forced on the policy.
      const isForced = each === " the";
      return isForced
        ? { owner: "inserted" as const, ids, logprobs: null }
        : { owner: "policy" as const, ids, logprobs: ids.map(() => -i) };
    });
    const trajectory = answered("Oslo", {
      calls: [
        { ...call, completion: written, finish: "stop" },
        { ...call, completion: [], finish: "stop" },
      ],
      turns: [
        { ...turn, call: 0 },
        { ...turn, call: 1 },
      ],
    });
    const registered = { registry: registry<Reward>("reward", [part]), tokenizer };
    await scoreTrajectories([{ task, trajectory }], [use("reads")], registered);
    expect(found).toEqual([[-2], null]);
  });

  it("gives the context to a reward: time, history, models, a cache that lasts", async () => {
    let asked = 0;
    const judge: Role = {
      name: "judge",
      complete: (prompt) => Promise.resolve(String(prompt.length)),
      logprobs: (_, text) => Promise.resolve(Array.from(text, () => -0.5)),
    };
    const part = defineReward({
      name: "asks",
      summary: "For tests.",
      options: z.strictObject({ k: z.int().default(3) }),
      async score({ trajectory }, { k }, { cache, history, logprobs, step, totalSteps }) {
        const likelihood = await cache.get([trajectory.answer], async () => {
          asked += 1;
          return (await logprobs("Q", trajectory.answer ?? "", "judge"))?.length ?? 0;
        });
        return likelihood + k + (history.mean("asks", 1) ?? 0) + step / totalSteps;
      },
    });
    const scoring = {
      registry: registry<Reward>("reward", [part]),
      cache: sharedCache(),
      step: 5,
      totalSteps: 10,
      history: { mean: () => 100 },
      roles: { names: ["judge"], get: () => judge },
    };
    const k = {
      schedule: "linear",
      from: 0,
      to: 9,
      start: 0,
      unit: "fraction",
      warmup: 0,
      round: true,
    };
    for (const wanted of [1, 1, 2]) {
      const scored = [of("one"), of("two")];
      const options = { k: wanted === 1 ? k : 7 };
      await scoreTrajectories(scored, [{ name: "asks", weight: 1, options }], scoring);
      // "Oslo" has four tokens of the judge; k is 5 of 9 on the way; .5 of the steps are done.
      const expected = 4 + (wanted === 1 ? 5 : 7) + 100 + 0.5;
      expect(scored.map(({ trajectory }) => trajectory.reward)).toEqual([expected, expected]);
      // Once for equal content, and again under other options.
      expect(asked).toBe(wanted);
    }
  });

  it("resolves a weight that is a schedule", async () => {
    const weight = { schedule: "linear" as const, from: 1, to: 0, start: 0, unit: "fraction" as const, warmup: 0 }; // prettier-ignore
    const scored = [of("one")];
    const weighted = [{ ...use("exact-match"), weight }];
    await scoreTrajectories(scored, weighted, { step: 1, totalSteps: 5 });
    expect(scored[0]!.trajectory.reward).toBe(0.75);
    expect(weightsAt(weighted, { step: 1, totalSteps: 5 }).get("exact-match")).toBe(0.75);
  });

  it("adds weighted rewards to an expression, each at its own place", async () => {
    const { part } = reward("spent", "trajectory", () => [
      { value: 0.5, call: 0 },
      { value: 0.25, call: 1 },
    ]);
    const known = registry<Reward>("reward", [part, reward("none", "trajectory", () => null).part]);
    const weighted = [use("spent", 4), use("none", 0)];
    const expression = rewardExpression("if(known(none), none, 2 * spent)", ["spent", "none"]);
    const scored = [of("one")];
    scored[0]!.trajectory.calls = [EMPTY_CALL, EMPTY_CALL];
    await scoreTrajectories(scored, weighted, { registry: known, expression });
    // 2 · (.5 + .25) by the expression, 4 · (.5 + .25) beside it.
    const { trajectory } = scored[0]!;
    expect(trajectory.reward).toBe(4.5);
    expect(trajectory.rewards.at(-1)).toEqual({ name: "expression", value: 1.5, at: null });
    expect(trajectory.rewards).toHaveLength(4);
    const shares = weightsAt(weighted, {});
    const counted = trajectory.rewards.map(({ name, value }) => shares.get(name)! * (value ?? 0));
    expect(counted).toEqual([2, 1, 0, 1.5]);
    await scoreTrajectories(scored, weighted, { registry: known, expression });
    expect(trajectory).toMatchObject({ reward: 4.5, rewards: { length: 4 } });
    const alone = [use("spent", 0), use("none", 0)];
    await scoreTrajectories(scored, alone, { registry: known, expression });
    expect(trajectory).toMatchObject({ reward: 1.5, rewards: { length: 3 } });
  });

  it("gives null where a model fails, for that trajectory or for all, and reports the first failure", async () => {
    const down = (id: string) => new RolloutError("HTTP_TIMEOUT", `models.judge: ${id} timed out`);
    const each = defineReward({
      name: "each",
      summary: "For tests.",
      score: ({ trajectory: { id } }) => {
        if (id === "one") return 1;
        throw down(id);
      },
    });
    const all = defineReward({
      name: "all",
      summary: "For tests.",
      scope: "batch",
      scoreAll: () => Promise.reject(down("all")),
    });
    const scored = [of("one"), of("two"), of("three")];
    const unscored = await scoreTrajectories(scored, [use("each"), use("all", 0)], {
      registry: registry("reward", [each, all]),
    });
    expect(scored.map(({ trajectory }) => trajectory.reward)).toEqual([1, null, null]);
    const code = "HTTP_TIMEOUT";
    expect(unscored).toEqual([
      { reward: "each", trajectories: 2, code, message: "models.judge: two timed out" },
      { reward: "all", trajectories: 3, code, message: "models.judge: all timed out" },
    ]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new TypeError("x is undefined");
      },
      /"made" threw x is undefined/,
    ],
    ["gives too few results", () => [], /"made" gave 0 results for 1/],
    ["gives no number", () => [Number.NaN], /"made" gave NaN/],
    ["leaves its range", () => [2], /"made" gave 2, .*0 to 1/],
    ["returns nothing", () => [undefined as never], /"made" returned undefined/],
    ["returns text", () => ["1" as never], /"made" returned '1'/],
    ["returns an object", () => [{ value: 1 } as never], /"made" returned { value: 1 }/],
    ["places text", () => [[{ value: "1" as never, call: 0 }]], /"made" gave '1'/, true],
    ["names a turn that is not there", () => [[{ value: 1, turn: 3 }]], /turn 3 of 0/, true],
    ["names a call that is not there", () => [[{ value: 1, call: 3 }]], /call 3 of/, true],
    ["has places in secret", () => [[{ value: 1, call: 0 }]], /does not declare placed: true/],
  ] satisfies [string, () => RewardResult[], RegExp, placed?: boolean][])(
    "names a reward that %s",
    async (_, scoreAll, message, placed?: boolean) => {
      // prettier-ignore
      const made = defineReward({ name: "made", summary: "For tests.", range: [0, 1], placed,
      scoreAll,
    });
      await expect(
        scoreTrajectories([of("one")], [use("made")], { registry: registry("reward", [made]) }),
      ).rejects.toMatchObject({
        code: "REWARD_FAILED",
        message: expect.stringMatching(message) as string,
      });
    },
  );
});
