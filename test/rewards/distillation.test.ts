import { describe, expect, it } from "vitest";
import { distillation } from "../../src/rewards/distillation.ts";
import type { PlacedValue } from "../../src/rewards/reward.ts";
import type { ShownSequence } from "../../src/rewards/context.ts";
import type { Call, Segment } from "../../src/trajectory/trajectory.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const shown = (...ids: number[]): Segment => ({ owner: "environment", ids, logprobs: null });
const written = (...ids: number[]): Segment => {
  return { owner: "policy", ids, logprobs: ids.map(() => -2) };
};

function call(
  parent: number | null,
  prompt: Segment,
  completion: Segment[],
  role = "policy",
): Call {
  return { parent, role, policyVersion: 0, finish: "stop", prompt: [prompt], completion };
}

/** A teacher under which a token's log-probability is −id / 10. */
async function valuesOf(calls: Call[], options: object = {}) {
  const asked: ShownSequence[] = [];
  const context = rewardContext({
    tokenLogprobs: (sequences) => {
      asked.push(...sequences);
      return Promise.resolve(sequences.map(({ ids }) => ids.map((id) => -id / 10)));
    },
  });
  const scored = [{ task, trajectory: answered("x", { calls }) }];
  return {
    values: await scoreWith(distillation, scored, { role: "teacher", ...options }, context),
    asked,
  };
}

describe("the reward distillation", () => {
  it("gives each sampled token the teacher's log-probability less the policy's, at its place", async () => {
    const { values, asked } = await valuesOf([
      call(null, shown(1, 2), [written(30, 10)]),
      call(0, shown(5), [{ owner: "inserted", ids: [7], logprobs: null }, written(20)]),
    ]);
    expect(values).toEqual([
      [
        { call: 0, token: 0, value: -1 },
        { call: 0, token: 1, value: 1 },
        { call: 1, token: 1, value: 0 },
      ],
    ]);
    // Both calls are one sequence, which the teacher reads once.
    expect(asked.map(({ ids }) => ids)).toEqual([[1, 2, 30, 10, 5, 7, 20]]);
    expect(asked[0]?.isAsked.flatMap((is, i) => (is ? [i] : []))).toEqual([2, 3, 6]);
  });

  it("asks once about tokens that two sequences share, and not about other models' tokens", async () => {
    const { values } = await valuesOf([
      call(null, shown(1), [written(10)]),
      call(0, shown(2), [written(20)]),
      call(0, shown(3), [written(30)]),
      call(null, shown(4), [written(40)], "sub-agent"),
    ]);
    expect(values).toMatchObject([[{ call: 0 }, { call: 1 }, { call: 2 }]]);
  });

  it("gates: σ(β · gap), by hand", async () => {
    const calls = [call(null, shown(1), [written(30, 10, 20)])];
    const { values } = await valuesOf(calls, { gate: 5 });
    // Gaps −1, 1 and 0: 1 / (1 + e^5), 1 / (1 + e^−5), 1/2.
    const found = (values[0] as PlacedValue[]).map(({ value }) => value);
    expect(found[0]).toBeCloseTo(0.0066929, 7);
    expect(found[1]).toBeCloseTo(0.9933071, 7);
    expect(found[2]).toBe(0.5);
  });

  it("asks for the hint to be shown right after the question, with what the dataset knows", async () => {
    const calls = [call(null, shown(1), [written(10)])];
    const { asked } = await valuesOf(calls, { shown: "\nHint: {answer}" });
    expect(asked[0]?.shown).toEqual({
      after: task.question,
      text: `\nHint: ${task.references[0]}`,
    });
    const without = { shown: "\nHint: {questions}" };
    expect(task.annotations.decomposition).toBeUndefined();
    expect((await valuesOf(calls, without)).values).toEqual([null]);
  });

  it("does not score what a server wrote, whose tokens are not on record", async () => {
    const segment: Segment = { owner: "policy", ids: [], logprobs: null };
    expect((await valuesOf([call(null, shown(1), [segment])])).values).toEqual([null]);
  });
});
