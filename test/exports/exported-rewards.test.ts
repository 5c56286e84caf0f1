import { describe, expect, it } from "vitest";
import {
  exportedRewards,
  expressionProblem,
  rewardProblem,
} from "../../src/exports/exported-rewards.ts";
import { settingsSchema, type Settings } from "../../src/run/settings/settings-schema.ts";
import "../helpers/all-parts.ts";

const given = (settings: object): Settings => settingsSchema.parse(settings);

describe("rewards of an export", () => {
  it("are those that the exported Python computes", () => {
    const problem = (reward: object): string | null =>
      rewardProblem(given({ rewards: [reward] }).rewards[0]!);
    expect(problem({ name: "exact-match" })).toBe(null);
    expect(problem({ name: "tag-format", answerWords: 10 })).toBe(null);
    expect(problem({ name: "cover-em" })).toBe("cover-em");
    expect(problem({ name: "cover-em", weight: 0 })).toBe(null);
    expect(problem({ name: "tag-format", per: "turn" })).toBe("weight or per");
    const schedule = { schedule: "linear", from: 2, to: 1 };
    expect(problem({ name: "exact-match", weight: schedule })).toBe("weight or per");
    expect(problem({ name: "tag-format", answerWords: schedule })).toBe("schedule");
  });

  it("have a weight, which is 1 without an expression and 0 beside one", () => {
    const rewards = [
      { name: "token-f1", as: "f1" },
      { name: "exact-match", weight: 0 },
    ];
    const [first] = exportedRewards(given({ rewards })).rewards;
    expect(first).toEqual({ name: "token-f1", as: "f1", weight: 1, options: {} });
    const both = exportedRewards(given({ rewards, reward: "f1" }));
    expect(both.rewards.map(({ as, weight }) => [as, weight])).toEqual([
      ["f1", 0],
      ["exact-match", 0],
    ]);
    expect(both.reward).toEqual({ kind: "name", name: "f1" });
  });

  it("are joined by expressions of numbers, rewards and a few functions", () => {
    const rewards = [
      { name: "token-f1", as: "f1" },
      { name: "tag-format", as: "format" },
    ];
    const problem = (reward: string): string | null =>
      expressionProblem(given({ rewards, reward }));
    expect(problem("if(not format, 0, f1 > 0, f1, 0.1)")).toBe(null);
    expect(problem("max(f1, 0.2) * answered - turns ^ 2")).toBe(null);
    expect(problem("f1 / turns")).toBe("/");
    expect(problem('f1 * (end == "answered")')).toBe("end");
    expect(problem("f1 - group_mean(f1)")).toBe("group_mean");
  });
});
