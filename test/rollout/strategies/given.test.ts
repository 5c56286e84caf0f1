import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Passage, Task } from "../../../src/trajectory/task.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, rolloutOptions, searchEnvironment, task } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const context: Passage[] = [
  { id: "b", title: "Bergen", text: "Bergen is a city in Norway." },
  { id: "o", title: "Oslo", text: "Oslo is the capital of Norway." },
];

const run = (of: Task, settings = {}) => {
  const policy = promptedPolicy([
    [/<answer>$/, " Oslo</answer>"],
    [/./s, "<think> so</think><answer> Oslo</answer>"],
  ]);
  const environment = searchEnvironment({ tools: [] });
  const options = rolloutOptions({ policy, environment, task: of });
  return strategies.get("given", "test").run(options, settings);
};

describe("given", () => {
  it("shows the question's own passages by number and forces an answer", async () => {
    const trajectory = await run({ ...task, annotations: { context } });
    expect(readable(trajectory)).toContain(
      "<information>Doc 1(Title: Bergen) Bergen is a city in Norway.\\nDoc 2(Title: Oslo) Oslo is the capital of Norway.</information>",
    );
    expect(trajectory.turns.map(({ text }) => text)).toEqual(["<answer> Oslo</answer>"]);
    expect(trajectory.given?.map(({ passageIds }) => passageIds)).toEqual([["b", "o"]]);
    expect(trajectory.answer).toBe("Oslo");
  });

  it("leaves the whole message to a policy that thinks", async () => {
    const trajectory = await run({ ...task, annotations: { context } }, { thinks: true });
    expect(trajectory.turns.map(({ text }) => text)).toEqual([
      "<think> so</think><answer> Oslo</answer>",
    ]);
  });

  it("stops at a question without passages, with what to do", async () => {
    await expect(run(task)).rejects.toThrow(errorWith("STRATEGY_UNFIT", task.id));
  });

  it("shows the gold passages alone, or their supporting sentences, and says that it read the gold", async () => {
    const annotations = {
      context: [
        ...context,
        {
          id: "n",
          title: "Norway",
          text: "Norway is cold. Its king lives in Oslo.",
          sentences: ["Norway is cold.", "Its king lives in Oslo."],
        },
      ],
      supportingPassages: ["o", "n"],
      supportingFacts: [{ title: "Norway", sentence: 1 }],
    };
    const shown = async (gold: string) =>
      (await run({ ...task, annotations }, { gold })).given?.map(({ text }) => text);
    expect(await shown("passages")).toEqual([
      "Doc 1(Title: Oslo) Oslo is the capital of Norway.\nDoc 2(Title: Norway) Norway is cold. Its king lives in Oslo.",
    ]);
    expect(await shown("sentences")).toEqual([
      "Doc 1(Title: Oslo) Oslo is the capital of Norway.\nDoc 2(Title: Norway) Its king lives in Oslo.",
    ]);
    const { readsGold } = strategies.get("given", "test");
    expect([readsGold({}), readsGold({ gold: "passages" })]).toEqual([false, true]);
  });

  it("stops where nothing says which passages are gold", async () => {
    const ungraded = { ...task, annotations: { context } };
    await expect(run(ungraded, { gold: "passages" })).rejects.toThrow(
      errorWith("STRATEGY_UNFIT", "gold"),
    );
  });
});
