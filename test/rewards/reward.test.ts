import { describe, expect, it } from "vitest";
import { RolloutError } from "../../src/base/errors.ts";
import { z } from "../../src/base/schema.ts";
import { environment } from "../../src/rewards/environment.ts";
import { answerExpectations } from "../../src/rewards/expectations.ts";
import { defineReward } from "../../src/rewards/reward.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const brevity = defineReward({
  name: "brevity",
  summary: "1 for an answer of few words, else 0.",
  options: z.strictObject({ maxWords: z.int().default(5) }),
  score: ({ trajectory }, { maxWords }) =>
    (trajectory.answer ?? "").split(/\s+/).length <= maxWords ? 1 : 0,
});

const scored = ["Oslo", "the city of Oslo"].map((answer) => {
  return { task, trajectory: answered(answer) };
});

describe("defineReward", () => {
  it("needs a name, a summary and one function; the rest has defaults", async () => {
    expect(brevity).toMatchObject({ kind: "shaping", scope: "trajectory", source: "" });
    expect(brevity.range).toEqual([-Infinity, Infinity]);
    expect(brevity.expects).toBeUndefined();
    expect(await scoreWith(brevity, scored)).toEqual([1, 1]);
    expect(await scoreWith(brevity, scored, { maxWords: 3 })).toEqual([1, 0]);
  });

  it("takes a function of all trajectories at once, which may be asynchronous", async () => {
    const rank = defineReward({
      name: "rank",
      summary: "For tests.",
      scope: "group",
      scoreAll: (all) => Promise.resolve(all.map((_, i) => -i)),
    });
    expect(rank.scope).toBe("group");
    expect(await scoreWith(rank, scored)).toEqual([-0, -1]);
  });

  it("keeps a model's failure with its trajectory, and throws any other error", async () => {
    const failing = (error: Error) =>
      defineReward({
        name: "fails",
        summary: "For tests.",
        score: ({ trajectory }) => {
          if (trajectory.answer === "Oslo") throw error;
          return 1;
        },
      });
    const down = new RolloutError("HTTP_TIMEOUT", "judge: no answer");
    expect(await scoreWith(failing(down), scored)).toEqual([down, 1]);
    await expect(scoreWith(failing(new TypeError("bug")), scored)).rejects.toThrow("bug");
  });

  it("demands expects of an answer reward, also from code without types", () => {
    const head = { name: "right", summary: "For tests.", score: () => 1 };
    const untyped = { ...head, kind: "answer" } as unknown as Parameters<typeof defineReward>[0];
    expect(() => defineReward(untyped)).toThrow(
      expect.objectContaining({ code: "REWARD_FAILED" }) as Error,
    );
    const declared = defineReward({ ...head, kind: "answer", expects: answerExpectations() });
    expect(declared.expects?.golden).toBe(1);
  });
});

describe("environment", () => {
  it("gives each turn's own reward, and nothing where the environment gave none", async () => {
    const turn = { call: 0, text: "", actions: [], problems: [], observations: [] };
    const turns = [{ ...turn, reward: -0.1 }, turn, { ...turn, reward: 10 }];
    const played = { task, trajectory: answered(null, { turns }) };
    const results = await environment.score([played], {}, rewardContext());
    expect(results).toEqual([
      [
        { turn: 0, value: -0.1 },
        { turn: 2, value: 10 },
      ],
    ]);
  });
});
