import { describe, expect, it } from "vitest";
import { informationGain } from "../../src/rewards/information-gain.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { replay, rolloutOptions, task } from "../helpers/search-world.ts";

/** A model to which a reference is the likelier, the more of some words its prompt has. */
function model(words: readonly string[], none = false) {
  const asked: string[] = [];
  const context = rewardContext({
    logprobs: (prompt, text) => {
      asked.push(`${prompt}${text}`);
      const known = words.filter((word) => prompt.includes(word)).length;
      return Promise.resolve(none ? null : [Math.log(0.1) + known, Math.log(0.1) + known]);
    },
  });
  return { asked, context };
}

const searched = () =>
  rollOut(
    rolloutOptions({
      policy: replay([
        "<search>capital Norway</search>",
        "<search>capital Norway</search>",
        "<answer>Oslo</answer>",
      ]),
    }),
    { maxTurns: 3 },
  );

describe("information-gain", () => {
  it("is what each turn but the last adds to the probability of the reference", async () => {
    const { asked, context } = model(["Oslo is the capital of Norway."]);
    const trajectory = await searched();
    const [values] = await scoreWith(informationGain, [{ trajectory, task }], {}, context);
    // .1 before the first search; .1 e after it, as the passage is there; the second search adds nothing.
    expect(values).toEqual([
      { turn: 0, value: expect.closeTo(0.1 * Math.E - 0.1, 9) as number },
      { turn: 1, value: 0 },
    ]);
    expect(asked[0]).toBe(`${task.question}\n<answer>Oslo`);
    expect(asked.every((each) => each.endsWith("\n<answer>Oslo"))).toBe(true);
  });

  it("asks a question once in a step, and again in the next one", async () => {
    const { asked, context } = model([]);
    const trajectory = await searched();
    const scored = [trajectory, trajectory].map((each) => ({ trajectory: each, task }));
    await scoreWith(informationGain, scored, {}, context);
    expect(asked).toHaveLength(3);
    await scoreWith(informationGain, scored, {}, { ...context, step: 1 });
    expect(asked).toHaveLength(6);
  });

  it("cannot score without a reference, and without a model that tells log-probabilities", async () => {
    const trajectory = await searched();
    const none = { trajectory, task: { ...task, references: [] } };
    const untold = { trajectory, task };
    const { context } = model([], true);
    expect(await scoreWith(informationGain, [none, untold], {}, context)).toEqual([null, null]);
  });
});
