import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, replay, rolloutOptions } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const strategy = strategies.get("self-consistent-actions", "test");
const run = (messages: string[], settings: object = { actions: 3 }): Promise<Trajectory> =>
  strategy.run(rolloutOptions({ policy: replay(messages), purpose: "eval" }), settings);

const RAIN = "<search>rain</search>";
const CAPITAL = "<search>capital Norway</search>";

describe("self-consistent-actions", () => {
  it("goes on with the first message whose outcome most candidates share", async () => {
    const messages = [
      RAIN,
      CAPITAL,
      "<search>Norway capital</search>",
      ...answers("Lima", "Oslo", "the Oslo"),
    ];
    const trajectory = await run(messages);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        policy: "<search>rain</search>"
      call 1 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        policy: "<search>capital Norway</search>"
      call 2 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        policy: "<search>Norway capital</search>"
      call 3 after 1, eos
        environment: "\\n\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n\\n"
        policy: "<answer>Lima</answer><|end|>"
      call 4 after 1, eos
        environment: "\\n\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n\\n"
        policy: "<answer>Oslo</answer><|end|>"
      call 5 after 1, eos
        environment: "\\n\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n\\n"
        policy: "<answer>the Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.turns.map(({ chain }) => chain)).toEqual([
      ...["candidate-1", undefined, "candidate-3"],
      ...["candidate-1", undefined, "candidate-3"],
    ]);
    expect(trajectory).toMatchObject({ answer: "Oslo", confidence: 2 / 3 });
  });

  it("drops messages with a problem from the vote", async () => {
    const trajectory = await run(["hm", "hm", RAIN, ...answers("Oslo", "Oslo", "Oslo")]);
    expect(trajectory.turns.find(({ chain }) => chain === undefined)?.text).toBe(RAIN);
  });

  it("takes the first where all differ, and where none is valid, so that its correction is read", async () => {
    const differing = await run([
      RAIN,
      CAPITAL,
      "<search>Peru</search>",
      ...answers("Oslo", "Oslo", "Oslo"),
    ]);
    expect(mainTexts(differing)[0]).toBe(RAIN);
    const invalid = await run(["a", "b", "b", ...answers("Oslo", "Oslo", "Oslo")]);
    expect(mainTexts(invalid)).toEqual(["a", "<answer>Oslo</answer>"]);
    expect(readable(invalid)).toContain("That message had no valid action.");
  });

  it("counts the searches of all candidates", async () => {
    const { turns } = await run([RAIN, CAPITAL, CAPITAL, ...answers("Oslo", "Oslo", "Oslo")]);
    expect(turns.filter(({ observations }) => observations.length > 0)).toHaveLength(3);
  });

  it("begins the first message with the first thought of a chain of thought", async () => {
    const policy = promptedPolicy([
      [/Steps:$/, " First I find the country.\n\nThen its capital."],
      [/<think>First I find the country\.$/, "</think><answer>Oslo</answer>"],
    ]);
    const trajectory = await strategy.run(rolloutOptions({ policy }), {
      actions: 2,
      firstThought: true,
    });
    expect(mainTexts(trajectory)).toEqual([
      "<think>First I find the country.</think><answer>Oslo</answer>",
    ]);
    expect(trajectory.turns[0]?.chain).toBe("first-thought");
  });
});

function answers(...texts: string[]): string[] {
  return texts.map((text) => `<answer>${text}</answer>`);
}

function mainTexts({ turns }: Trajectory): string[] {
  return turns.filter(({ chain }) => chain === undefined).map(({ text }) => text);
}
