import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { distillation } from "../../src/rewards/distillation.ts";
import type { PlacedValue } from "../../src/rewards/reward.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const { student, teacher, cases } = JSON.parse(
  readFileSync(new URL("./sdar.json", import.meta.url), "utf8"),
) as { student: number[]; teacher: number[]; cases: { gate: number; pushed: number[] }[] };

describe("the gate of distillation against the authors' loss (sdar.py)", () => {
  it.each(cases)("β $gate", async ({ gate, pushed }) => {
    const ids = student.map((_, i) => i + 1);
    const call = {
      parent: null,
      role: "policy",
      policyVersion: 0,
      finish: "stop" as const,
      prompt: [{ owner: "template" as const, ids: [0], logprobs: null }],
      completion: [{ owner: "policy" as const, ids, logprobs: student }],
    };
    const context = rewardContext({
      tokenLogprobs: (rows) => Promise.resolve(rows.map(() => [NaN, ...teacher])),
    });
    const scored = [{ task, trajectory: answered("x", { calls: [call] }) }];
    const [found] = await scoreWith(distillation, scored, { role: "teacher", gate }, context);
    const values = (found as PlacedValue[]).map(({ value }) => value);
    expect(values).toHaveLength(pushed.length);
    for (const [i, value] of pushed.entries()) expect(values[i]).toBeCloseTo(value, 10);
  });
});
