import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, rolloutOptions } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

type Messages = Parameters<typeof promptedPolicy>[0];

const run = (messages: Messages, settings: object = {}): Promise<Trajectory> =>
  strategies
    .get("cot", "test")
    .run(rolloutOptions({ policy: promptedPolicy(messages), purpose: "eval" }), settings);

describe("cot", () => {
  it("asks for thoughts, then forces an answer after them", async () => {
    const trajectory = await run([
      [/Thoughts:$/, " Norway has one capital."],
      [/<answer>$/, " Oslo</answer>"],
    ]);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Think about the question step by step, from what you know: nothing can be looked up.\\nQuestion: What is the capital of Norway?\\nThoughts:"
        policy: " Norway has one capital.<|end|>"
      call 1 after nothing, eos
        template: "Think about the question step by step, from what you know: nothing can be looked up.\\nQuestion: What is the capital of Norway?\\nThoughts: Norway has one capital.\\n"
        inserted: "<answer>"
        policy: " Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.turns.map(({ text }) => text)).toEqual([
      " Norway has one capital.",
      "<answer> Oslo</answer>",
    ]);
  });

  it("takes a policy that answers in its thoughts at its word", async () => {
    const trajectory = await run([[/Thoughts:$/, "It is <answer> Oslo</answer> I think"]]);
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
    expect(trajectory.calls).toHaveLength(1);
  });
});
