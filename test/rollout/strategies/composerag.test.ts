import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

type Messages = Parameters<typeof promptedPolicy>[0];

const run = (messages: Messages, settings: object = {}): Promise<Trajectory> =>
  strategies
    .get("composerag", "test")
    .run(rolloutOptions({ policy: promptedPolicy(messages), purpose: "eval" }), settings);

const VERIFIED: Messages = [[/Supported:$/, "yes"]];
const MODULES: Messages = [
  [/Simpler questions:$/, "1. Which country?\n2. What is the capital of #1?"],
  [/Which country\?\nDecision:$/, "certain"],
  [/Decision:$/, "look up"],
  [/country\?\nAnswer:$/, "Norway"],
  [/Query:$/, "Norway capital"],
  [/Norway\?\nAnswer:$/, "Oslo"],
  [/<answer>$/, "Oslo</answer>"],
];

describe("composerag", () => {
  it("solves simpler questions one after another and composes the answer", async () => {
    const trajectory = await run([...MODULES, ...VERIFIED]);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Split the question into the simpler questions that must be answered first, one a line: 1. … 2. … A later one may hold #1 for the answer of the first, and so on. Do not split what is simple already.\\nQuestion: What is the capital of Norway?\\nSimpler questions:"
        policy: "1. Which country?\\n2. What is the capital of #1?<|end|>"
      call 1 after nothing, eos
        template: "Must this question be looked up, or is its answer certain without? Write: look up, or: certain.\\nQuestion: Which country?\\nDecision:"
        policy: "certain<|end|>"
      call 2 after nothing, eos
        template: "Answer the question in a few words, from the passages where there are any. If you cannot, write: unknown.\\nQuestion: Which country?\\nAnswer:"
        policy: "Norway<|end|>"
      call 3 after nothing, eos
        template: "Must this question be looked up, or is its answer certain without? Write: look up, or: certain.\\nQuestion: What is the capital of Norway?\\nDecision:"
        policy: "look up<|end|>"
      call 4 after nothing, eos
        template: "Write a search query that finds passages with the answer of the question.\\nQuestion: What is the capital of Norway?\\nQuery:"
        policy: "Norway capital<|end|>"
      call 5 after nothing, eos
        template: "Doc 1(Title: Oslo) Oslo is the capital of Norway.\\nAnswer the question in a few words, from the passages where there are any. If you cannot, write: unknown.\\nQuestion: What is the capital of Norway?\\nAnswer:"
        policy: "Oslo<|end|>"
      call 6 after nothing, eos
        template: "Doc 1(Title: Oslo) Oslo is the capital of Norway.\\nDoes this support the answer? Write yes or no.\\nQuestion: What is the capital of Norway?\\nAnswer: Oslo\\nSupported:"
        policy: "yes<|end|>"
      call 7 after nothing, eos
        template: "Which country? Norway\\nWhat is the capital of Norway? Oslo\\nAnswer the question from these answers, as short as possible.\\nQuestion: What is the capital of Norway?\\n"
        inserted: "<answer>"
        policy: "Oslo</answer><|end|>"
      call 8 after nothing, eos
        template: "Which country? Norway\\nWhat is the capital of Norway? Oslo\\nDoes this support the answer? Write yes or no.\\nQuestion: What is the capital of Norway?\\nAnswer: Oslo\\nSupported:"
        policy: "yes<|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.turns.map(({ chain }) => chain)).toEqual([
      ...["decompose", "1/gate", "1/answer", "2/gate", "2/rewrite"],
      ...["2/answer", "2/verify", "compose", "verify"],
    ]);
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("looks a sub-question up again when its answer is not supported, told of what failed", async () => {
    const trajectory = await run([
      [/Simpler questions:$/, ""],
      [/Found nothing that helps: rain\nQuestion: .*Query:$/s, "capital"],
      [/Query:$/, "rain"],
      [/Supported:$/, "no", "yes"],
      ...MODULES,
    ]);
    const searched = trajectory.turns.flatMap(({ actions }) => actions.map(({ input }) => input));
    expect(searched).toEqual(["rain", "capital", "Oslo"]);
  });

  it("decomposes anew when the whole is not supported, and lets the last answer stand", async () => {
    const trajectory = await run([...MODULES, [/Supported:$/, "no"]], { reflections: 1 });
    expect(trajectory.answer).toBe("Oslo");
    const decomposed = trajectory.turns.filter(({ chain = "" }) => chain.endsWith("decompose"));
    expect(decomposed.map(({ chain }) => chain)).toEqual(["decompose", "again-1/decompose"]);
    expect(readable(trajectory)).toContain('An earlier attempt answered \\"Oslo\\"');
  });

  it("leaves modules out that are switched off", async () => {
    const off = { gate: false, rewrite: false, rerank: false, verify: false };
    const trajectory = await run(MODULES, off);
    expect(trajectory.turns.map(({ chain }) => chain)).toEqual([
      ...["decompose", "1/answer", "2/answer", "compose"],
    ]);
    expect(trajectory.turns.flatMap(({ observations }) => observations)).toHaveLength(2);
  });

  it("shows passages in the order that the policy gives them", async () => {
    const tools = [{ name: "corpus-search", topK: 3 }];
    const policy = promptedPolicy([[/Order:$/, "3, 1"], ...MODULES, ...VERIFIED]);
    const environment = searchEnvironment({ tools });
    const trajectory = await strategies
      .get("composerag", "test")
      .run(rolloutOptions({ policy, environment }));
    expect(trajectory.turns.some(({ chain }) => chain === "2/rerank")).toBe(true);
    expect(readable(trajectory)).toMatch(
      /Doc 1\(Title: \w+\)[^"]*Doc 2\(Title: Oslo\)[^"]*from the passages/,
    );
  });
});
