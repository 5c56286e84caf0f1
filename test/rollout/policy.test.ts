import { describe, expect, it } from "vitest";
import { beginningOf, scriptedPolicy } from "../../src/rollout/policy.ts";
import { task, tokenizer } from "../helpers/search-world.ts";

const complete = async (text: string, changes: { maxTokens?: number; stopStrings?: string[] }) => {
  const { ids, logprobs, finish } = await scriptedPolicy(tokenizer, () => text).complete({
    promptIds: [1],
    maxTokens: 100,
    stopIds: [0],
    stopStrings: [],
    sequence: null,
    temperature: 0,
    topP: 1,
    topK: 0,
    seed: 1,
    task,
    turns: [],
    ...changes,
  });
  expect(logprobs).toEqual(ids.map(() => 0));
  return { text: tokenizer.decode(ids), finish };
};

describe("scriptedPolicy", () => {
  it("ends its message with the end token", async () => {
    expect(await complete("the capital", {})).toEqual({
      text: "the capital<|end|>",
      finish: "eos",
    });
  });

  it("stops at the first stop string, as an engine does", async () => {
    const stopStrings = ["</answer>", "</search>"];
    expect(await complete("<search> Oslo</search> </answer>", { stopStrings })).toEqual({
      text: "<search> Oslo</search>",
      finish: "stop",
    });
  });

  it("stops at the largest number of tokens", async () => {
    expect(await complete(" Oslo capital of", { maxTokens: 2 })).toEqual({
      text: " Oslo capital",
      finish: "length",
    });
  });
});

describe("beginningOf", () => {
  it("takes four characters for a token, and leaves out one that it would cut in half", () => {
    expect(beginningOf("capital of", 1)).toBe("capi");
    expect(beginningOf("abc😀d", 1)).toBe("abc");
    expect(beginningOf("ab😀d", 1)).toBe("ab😀");
  });
});
