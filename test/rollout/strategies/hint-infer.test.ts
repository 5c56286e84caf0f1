import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { readable, replay, rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";

const run = (messages: string[], settings: object = {}): Promise<Trajectory> =>
  strategies
    .get("hint-infer", "test")
    .run(rolloutOptions({ policy: replay(messages), purpose: "eval" }), settings);

const THINKS = "<think> Oslo, surely</think><answer>Bergen</answer>";
const SEARCHES = "</think><search>capital Norway</search>";
const ANSWERS = "<answer> Oslo</answer>";

describe("hint-infer", () => {
  it("holds an answer up with a hint before the end of thinking, and lets the policy go on", async () => {
    const trajectory = await run([THINKS, SEARCHES, ANSWERS]);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Question: What is the capital of Norway?\\n"
        policy: "<think> Oslo, surely</think><answer>Bergen</answer><|end|>"
      call 1 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        inserted: "<think> Oslo, surely Wait: I could search for that to make sure, before I answer."
        policy: "</think><search>capital Norway</search>"
      call 2 after 1, eos
        environment: "\\n\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n\\n"
        policy: "<answer> Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.turns.map(({ chain }) => chain)).toEqual(["draft-1", undefined, undefined]);
    expect(trajectory.answer).toBe("Oslo");
  });

  it("holds up as many answers as it is told", async () => {
    const settings = { times: 2, hint: " Hm." };
    const trajectory = await run(
      [THINKS, "</think><answer>Lima</answer>", SEARCHES, ANSWERS],
      settings,
    );
    expect(trajectory.turns.map(({ text }) => text)).toEqual([
      THINKS,
      "<think> Oslo, surely Hm.</think><answer>Lima</answer>",
      "<think> Oslo, surely Hm. Hm.</think><search>capital Norway</search>",
      ANSWERS,
    ]);
    expect(trajectory.turns.map(({ chain }) => chain)).toEqual([
      "draft-1",
      "draft-2",
      undefined,
      undefined,
    ]);
  });

  it("puts the hint before the answer where the policy thought nothing", async () => {
    const trajectory = await run(["<answer>Lima</answer>", SEARCHES, ANSWERS], { hint: "Hm." });
    expect(trajectory.turns[1]?.text).toBe(`Hm.${SEARCHES}`);
  });

  it("leaves searches alone, and the answer of a last turn, after which no search would run", async () => {
    const budgets = [{ scope: "trajectory", unit: "turns", limit: 1, onExhausted: "final-turn" }];
    const policy = replay([SEARCHES, ANSWERS]);
    const trajectory = await strategies
      .get("hint-infer", "test")
      .run(rolloutOptions({ policy, environment: searchEnvironment({ budgets }) }));
    expect(trajectory.turns.map(({ text }) => text)).toEqual([SEARCHES, ANSWERS]);
  });
});
