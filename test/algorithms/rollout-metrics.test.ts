import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mismatchKl, rolloutMetrics } from "../../src/algorithms/rollout-metrics.ts";
import { policyRows } from "../../src/algorithms/training-rows.ts";
import type { Call, Trajectory, Turn } from "../../src/trajectory/trajectory.ts";
import { answered } from "../helpers/search-world.ts";

/** A trajectory that searched for so much, wrote so many tokens, and was given a reward. */
function made(
  reward: number | null,
  given: { queries?: string[]; tokens?: number; group?: string } & Partial<Trajectory> = {},
): Trajectory {
  const { queries = [], tokens = 1, group = "a", ...changes } = given;
  const turns = queries.map((input): Turn => {
    const observations = [{ tool: "search", text: "" }];
    const actions = [{ tool: "search", input }];
    return { call: 0, text: "", actions, problems: [], observations };
  });
  const ids = Array.from({ length: tokens }, (_, i) => i);
  const call: Call = {
    parent: null,
    role: "policy",
    policyVersion: 0,
    prompt: [],
    finish: "eos" as const,
    completion: [{ owner: "policy", ids, logprobs: ids.map(() => -0.5) }],
  };
  const rewards = [{ name: "exact-match", value: reward, at: null }];
  return { ...answered("x"), groupId: group, reward, rewards, turns, calls: [call], ...changes };
}

describe("rolloutMetrics", () => {
  it("measures rewards over all, and their deviation within groups", () => {
    const batch = [made(0), made(1), made(0.5, { group: "b" }), made(0.5, { group: "b" })];
    expect(rolloutMetrics(batch)).toMatchObject({
      "rollout/reward_mean": 0.5,
      // Sample deviations 0.7071 and 0.
      "rollout/reward_std": Math.SQRT1_2 / 2,
      "rollout/reward_max": 1,
      "rollout/reward_min": 0,
      "rollout/zero_variance_share": 0.5,
      "rollout/unscored_share": 0,
      "reward/exact-match": 0.5,
    });
  });

  it("leaves unscored trajectories out of every figure of rewards", () => {
    const figures = rolloutMetrics([made(null), made(1), made(null, { group: "b" })]);
    expect(figures).toMatchObject({
      "rollout/reward_mean": 1,
      "rollout/reward_std": 0,
      "rollout/zero_variance_share": 1,
      "rollout/unscored_share": 2 / 3,
    });
    const none = rolloutMetrics([made(null)]);
    expect(none).toMatchObject({ "rollout/reward_mean": 0, "rollout/zero_variance_share": 0 });
    expect(none).not.toHaveProperty("rollout/reward_max");
  });

  it("means the share of repeated queries over the trajectories that searched", () => {
    const batch = [
      made(0, { queries: ["Oslo", "the oslo", "Lima"] }),
      made(0, { queries: ["Oslo"] }),
      made(0),
    ];
    expect(rolloutMetrics(batch)).toMatchObject({
      "rollout/searches": 4 / 3,
      "rollout/duplicate_query_share": 1 / 6,
    });
    expect(rolloutMetrics([made(0)])).not.toHaveProperty("rollout/duplicate_query_share");
  });

  it("counts calls of all tools, and the share that failed", () => {
    const calling = (...problems: (string | undefined)[]): Trajectory => {
      const observations = problems.map((code) => ({
        tool: "python",
        text: "",
        ...(code === undefined ? {} : { problem: { code, message: code } }),
      }));
      return made(0, { turns: [{ call: 0, text: "", actions: [], problems: [], observations }] });
    };
    const batch = [calling(undefined, "python-error", undefined), calling(undefined), made(0)];
    expect(rolloutMetrics(batch)).toMatchObject({
      "rollout/tool_calls": 4 / 3,
      "rollout/tool_use_share": 2 / 3,
      "rollout/failed_call_share": 1 / 4,
    });
    expect(rolloutMetrics([made(0)])).not.toHaveProperty("rollout/failed_call_share");
  });

  it("means the share of passages that a trajectory was shown before", () => {
    const showing = (...shown: string[][]): Trajectory => {
      const turns = shown.map((passageIds): Turn => {
        const observations = [{ tool: "search", text: "", passageIds }];
        return { call: 0, text: "", actions: [], problems: [], observations };
      });
      return made(0, { turns });
    };
    const batch = [showing(["oslo", "lima"], ["lima", "oslo"]), showing(["oslo"]), made(0)];
    expect(rolloutMetrics(batch)).toMatchObject({ "rollout/duplicate_passage_share": 0.25 });
    expect(rolloutMetrics([made(0)])).not.toHaveProperty("rollout/duplicate_passage_share");
  });

  it("tells answers after a search from answers without, and from searches without an answer", () => {
    const batch = [
      made(0, { queries: ["Oslo"] }),
      made(0),
      made(0, { queries: ["Oslo"], answer: null, end: "turn-limit" }),
      made(0, { answer: null, end: "context-limit" }),
    ];
    expect(rolloutMetrics(batch)).toMatchObject({
      "rollout/answer_rate": 0.5,
      "rollout/answer_after_search_share": 0.25,
      "rollout/truncated_share": 0.5,
    });
  });

  it("counts what ended without an answer for other reasons as no truncation", () => {
    const batch = [
      made(0, { answer: null, end: "no-answer" }),
      made(0, { answer: null, end: "token-limit" }),
    ];
    expect(rolloutMetrics(batch)["rollout/truncated_share"]).toBe(0.5);
  });

  it("gives the mean and the largest number of tokens written, and their mean surprise", () => {
    expect(rolloutMetrics([made(0, { tokens: 2 }), made(0, { tokens: 6 })])).toMatchObject({
      "rollout/completion_tokens": 4,
      "rollout/completion_tokens_max": 6,
      "rollout/entropy": 0.5,
    });
  });

  it("has no metric that docs/files.md does not explain", () => {
    const page = readFileSync(new URL("../../docs/files.md", import.meta.url), "utf8");
    const names = Object.keys(rolloutMetrics([made(0, { queries: ["Oslo"] })]));
    const own = names.filter((name) => name.startsWith("rollout/"));
    expect(own.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

it("measures what is trained, without baselines", () => {
  const trained = [made(1), made(0)];
  const baseline = made(1, { purpose: "baseline" });
  expect(rolloutMetrics([...trained, baseline])).toEqual(rolloutMetrics(trained));
});

describe("mismatchKl", () => {
  it("is 0 where sampler and trainer agree, and e^d - d - 1 per token where they do not", () => {
    const rows = policyRows(made(0, { tokens: 3 }));
    expect(mismatchKl(rows, [Float32Array.of(-0.5, -0.5)])).toBe(0);
    // d = ln 2 and 0: 2 − ln 2 − 1, halved.
    const trainer = [Float32Array.of(-0.5 + Math.LN2, -0.5)];
    expect(mismatchKl(rows, trainer)).toBeCloseTo((1 - Math.LN2) / 2, 6);
  });
});
