import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, rolloutOptions } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

type Messages = Parameters<typeof promptedPolicy>[0];

const run = (messages: Messages, settings: object = {}): Promise<Trajectory> =>
  strategies
    .get("ircot", "test")
    .run(rolloutOptions({ policy: promptedPolicy(messages), purpose: "eval" }), settings);

describe("ircot", () => {
  it("searches for the question, then for each sentence, until one says what the answer is", async () => {
    const trajectory = await run([
      [/Thoughts:$/, " Bergen is a city with much rain. It is not the capital."],
      [/rain\.$/, " So the answer is: Oslo."],
    ]);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Doc 1(Title: Oslo) Oslo is the capital of Norway.\\nReason towards the answer of the question, one sentence at a time, each with one fact from the passages. As soon as the answer is known, write: So the answer is: …\\nQuestion: What is the capital of Norway?\\nThoughts:"
        policy: " Bergen is a city with much rain. It is not the capital.<|end|>"
      call 1 after nothing, eos
        template: "Doc 1(Title: Oslo) Oslo is the capital of Norway.\\nDoc 2(Title: Bergen) Bergen is a city in Norway with much rain.\\nReason towards the answer of the question, one sentence at a time, each with one fact from the passages. As soon as the answer is known, write: So the answer is: …\\nQuestion: What is the capital of Norway?\\nThoughts: Bergen is a city with much rain."
        policy: " So the answer is: Oslo.<|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.given).toMatchObject([{ passageIds: ["oslo"] }]);
    expect(trajectory.turns[0]).toMatchObject({
      actions: [{ tool: "search", input: "Bergen is a city with much rain." }],
      observations: [{ passageIds: ["bergen"] }],
    });
    expect(trajectory.answer).toBe("Oslo");
  });

  it("shows a passage once, and no more than its limit", async () => {
    const script: Messages = [[/./s, "Oslo is the capital of Norway."]];
    const prompts = (trajectory: Trajectory): string[] => readable(trajectory).split("\n");
    const same = await run(script, { steps: 3 });
    for (const line of prompts(same))
      expect(line.match(/\(Title: Oslo\)/g) ?? []).toHaveLength(line.includes("template") ? 1 : 0);
    const limited = await run([[/./s, "Much rain.", "A composer.", "Peru."]], {
      steps: 4,
      passages: 2,
    });
    expect(prompts(limited).some((line) => line.includes("Doc 2"))).toBe(true);
    expect(prompts(limited).some((line) => line.includes("Doc 3"))).toBe(false);
  });

  it("forces an answer when its sentences are used up, and searches for no last one", async () => {
    const trajectory = await run(
      [
        [/<answer>$/, " Oslo</answer>"],
        [/./s, "Norway is cold."],
      ],
      { steps: 2 },
    );
    expect(trajectory.turns.map(({ observations }) => observations.length)).toEqual([1, 0, 0]);
    expect(trajectory.answer).toBe("Oslo");
  });
});
