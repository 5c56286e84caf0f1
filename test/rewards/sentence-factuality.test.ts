import { describe, expect, it } from "vitest";
import type { Scored } from "../../src/rewards/reward.ts";
import { sentenceFactuality } from "../../src/rewards/sentence-factuality.ts";
import type { Role } from "../../src/trajectory/role.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { answered, passages, task } from "../helpers/search-world.ts";

const gold: Task = { ...task, annotations: { context: passages.slice(0, 1) } };
const MESSAGE = "<think> A is Norway. B is false. C is open. D.</think><answer> Oslo</answer>";

const of = (text: string, asked: Task = gold): Scored => {
  const turn = { call: 0, text, actions: [], problems: [], observations: [] };
  return { task: asked, trajectory: answered("Oslo", { turns: [turn] }) };
};

function verifier() {
  const prompts: string[] = [];
  const role: Role = {
    name: "verifier",
    complete(prompt, { stop }) {
      prompts.push(prompt);
      expect(stop).toEqual(["</answer>"]);
      const [, letter = ""] = /^Question: (.)/.exec(prompt) ?? [];
      return Promise.resolve({ A: " Norway false", B: "Peru true", C: "unknown" }[letter] ?? "hm");
    },
    logprobs: () => Promise.resolve(null),
  };
  return { prompts, context: rewardContext({ roles: { names: ["verifier"], get: () => role } }) };
}

const named = { role: "verifier" };

describe("sentence-factuality", () => {
  it("gives each sentence of the thought the verdict on it, at its characters", async () => {
    const { prompts, context } = verifier();
    const [values] = await scoreWith(sentenceFactuality, [of(MESSAGE)], named, context);
    const at = (sentence: string) => {
      const from = MESSAGE.indexOf(sentence);
      return [from, from + sentence.length];
    };
    expect(values).toEqual([
      { turn: 0, span: at("A is Norway."), value: 1 },
      { turn: 0, span: at("B is false."), value: -1 },
      { turn: 0, span: at("C is open."), value: -1 },
    ]);
    expect(prompts[0]).toBe(
      "Question: A is Norway. Is it true?\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.</information>\n<answer>",
    );
  });

  it("takes a verdict without a value as it is", async () => {
    const role = (reply: string): Role => ({
      name: "verifier",
      complete: () => Promise.resolve(reply),
      logprobs: () => Promise.resolve(null),
    });
    const values = ["true", "false"].map((reply) =>
      scoreWith(
        sentenceFactuality,
        [of(MESSAGE)],
        { ...named, per: "trajectory" },
        rewardContext({ roles: { names: ["verifier"], get: () => role(reply) } }),
      ),
    );
    expect(await Promise.all(values)).toEqual([[1], [-1]]);
  });

  it("gives 0 for what the passages leave open on the paper's scale, and a mean per trajectory", async () => {
    const { context } = verifier();
    const scored = (options: object) =>
      scoreWith(sentenceFactuality, [of(MESSAGE)], { ...named, ...options }, context);
    const [values] = await scored({ scale: "three-way" });
    expect(values).toMatchObject([{ value: 1 }, { value: -1 }, { value: 0 }]);
    expect(await scored({ per: "trajectory" })).toEqual([expect.closeTo(-1 / 3, 12)]);
    expect(await scored({ per: "trajectory", scale: "three-way" })).toEqual([0]);
  });

  it("has no value without passages, with broken tags and for several messages", async () => {
    const { prompts, context } = verifier();
    const two = of(MESSAGE);
    const broken = [
      of(MESSAGE, task),
      of("<think> A is true.<answer> Oslo</answer>"),
      of(`<think>${MESSAGE}`),
      of(`${MESSAGE}<answer> Lima</answer>`),
      { ...two, trajectory: { ...two.trajectory, turns: two.trajectory.turns.flatMap((each) => [each, each]) } }, // prettier-ignore
    ];
    const values = await scoreWith(sentenceFactuality, broken, named, context);
    expect(values).toEqual([[], [], [], [], []]);
    expect(prompts).toEqual([]);
  });

  it("reads a thought that the prompt opened, and asks about equal sentences once", async () => {
    const { prompts, context } = verifier();
    const opened = of(MESSAGE.replace("<think>", ""));
    const rows = [opened, of(MESSAGE)];
    const [first] = await scoreWith(sentenceFactuality, rows, named, context);
    expect(first).toMatchObject([{ span: [1, 13] }, {}, {}]);
    expect(prompts).toHaveLength(4);
  });
});
