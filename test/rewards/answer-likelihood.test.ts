import { describe, expect, it } from "vitest";
import { answerLikelihood } from "../../src/rewards/answer-likelihood.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { answered, replay, rolloutOptions, task } from "../helpers/search-world.ts";

/** A model with given log-probabilities by text, and what it was asked. */
function model(known: Record<string, number[] | null>) {
  const asked: { prompt: string; text: string; role: string | undefined }[] = [];
  const context = rewardContext({
    logprobs: (prompt, text, role) => {
      asked.push({ prompt, text, role });
      return Promise.resolve(known[text] ?? null);
    },
  });
  return { asked, context };
}

const play = (...messages: string[]) =>
  rollOut(rolloutOptions({ policy: replay(messages) }), { maxTurns: 2 });

describe("answer-likelihood", () => {
  it("asks for the reference in the place of the answer, after what was read", async () => {
    const trajectory = await play("<search>capital Norway</search>", "I know. <answer>Lima</answer>"); // prettier-ignore
    const { asked, context } = model({ Oslo: [-1, -3] });
    const options = { role: "reader" };
    expect(await scoreWith(answerLikelihood, [{ trajectory, task }], options, context)).toEqual([
      -2,
    ]);
    const [first] = asked;
    expect(first).toMatchObject({ text: "Oslo", role: "reader" });
    expect(first?.prompt.startsWith(`${task.question}\n`)).toBe(true);
    expect(first?.prompt).toContain("Oslo is the capital of Norway.");
    expect(first?.prompt.endsWith("\nI know. <answer>")).toBe(true);
  });

  it("asks after everything that was written where there is no answer", async () => {
    const { asked, context } = model({ Oslo: [-0.5] });
    const trajectory = await play("hm", "hm");
    expect(await scoreWith(answerLikelihood, [{ trajectory, task }], {}, context)).toEqual([-0.5]);
    expect(asked[0]).toMatchObject({ role: "policy" });
    expect(asked[0]?.prompt.endsWith("\n")).toBe(true);
  });

  it("takes the likeliest reference: by its mean, or by its sum", async () => {
    const both = { ...task, references: ["Oslo", "the city of Oslo", "too long to ask"] };
    const scored = [{ trajectory: answered("Oslo"), task: both }];
    const known = { Oslo: [-2], "the city of Oslo": [-1, -1, -1, -1] };
    const score = (normalize: boolean) =>
      scoreWith(answerLikelihood, scored, { normalize }, model(known).context);
    expect(await score(true)).toEqual([-1]);
    expect(await score(false)).toEqual([-2]);
  });

  it("cannot score without a reference, and without a model that tells log-probabilities", async () => {
    const none = { trajectory: answered("Oslo"), task: { ...task, references: [] } };
    const untold = { trajectory: answered("Oslo"), task };
    const { context } = model({});
    expect(await scoreWith(answerLikelihood, [none, untold], {}, context)).toEqual([null, null]);
  });
});
