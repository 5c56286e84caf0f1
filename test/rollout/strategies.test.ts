import { describe, expect, it } from "vitest";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import type { Retriever } from "../../src/retrieval/retriever.ts";
import { policyRows } from "../../src/algorithms/training-rows.ts";
import {
  corpus,
  readable,
  replay,
  rolloutOptions,
  searchEnvironment,
  tokenizer,
} from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const run = (name: string, messages: string[], environment = searchEnvironment()) =>
  strategies
    .get(name, "test")
    .run(rolloutOptions({ policy: replay(messages), environment, purpose: "eval" }));

describe("strategies", () => {
  it("agent is a plain rollout", async () => {
    const messages = ["<search> capital Norway</search>", "<answer> Oslo</answer>"];
    const options = rolloutOptions({ policy: replay(messages), purpose: "eval" });
    expect(await run("agent", messages)).toEqual(await rollOut(options));
  });

  it("direct forces an answer out of the question alone", async () => {
    expect(readable(await run("direct", [" Oslo</answer>"]))).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Question: What is the capital of Norway?\\n"
        inserted: "<answer>"
        policy: " Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
  });

  it("direct runs no search that a policy writes, and gives it no further turn", async () => {
    const trajectory = await run("direct", ["</answer><search> Oslo</search>"]);
    expect(trajectory.calls).toHaveLength(1);
    expect(trajectory.turns[0]!.observations).toEqual([]);
    const calling = await run("direct", [" <search> Oslo</search>"]);
    expect(calling).toMatchObject({ end: "turn-limit", answer: null });
    const silent = await run("direct", [""]);
    expect(silent).toMatchObject({ end: "turn-limit", answer: null });
  });

  it("rag shows what one search with the question found, and forces an answer", async () => {
    expect(readable(await run("rag", [" Oslo</answer>"]))).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Question: What is the capital of Norway?\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n"
        inserted: "<answer>"
        policy: " Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
  });

  it("rag lets the policy think before it answers where that is asked for", async () => {
    const message = "<think>It says so.</think><answer> Oslo</answer>";
    const options = rolloutOptions({ policy: replay([message]), purpose: "eval" });
    const trajectory = await strategies.get("rag", "test").run(options, { thinks: true });
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Question: What is the capital of Norway?\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n"
        policy: "<think>It says so.</think><answer> Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
  });

  it("does not train the forced beginning of an answer", async () => {
    const trajectory = await run("rag", [" Oslo</answer>"]);
    const [row] = policyRows(trajectory, { lossOn: ["policy", "environment"] });
    expect(tokenizer.decode(row!.targets.filter((_, i) => row!.lossMask[i] === 1))).toBe(
      " Oslo</answer><|end|>",
    );
  });

  it("rag records a search that failed on its trajectory", async () => {
    const down: Retriever = { ...corpus, search: () => Promise.reject(new Error("HTTP 503")) };
    const trajectory = await run("rag", [" Oslo</answer>"], searchEnvironment({}, down));
    expect(trajectory).toMatchObject({
      end: "tool-error",
      answer: null,
      calls: [],
      error: { boundary: "tool", code: "TOOL_FAILED", message: "tool: HTTP 503" },
    });
  });

  it("rag refuses a prompt that cannot show passages", async () => {
    const environment = searchEnvironment({ prompt: "{question}" });
    await expect(run("rag", [" Oslo</answer>"], environment)).rejects.toThrow(
      /without \{context\}/,
    );
  });
});
