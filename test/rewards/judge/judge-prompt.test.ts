import { describe, expect, it } from "vitest";
import { readVerdict } from "../../../src/rewards/judge/judge-prompt.ts";
import { equivalence, graded } from "../../../src/rewards/judge/judge-prompts.ts";

const read = (text: string, finish: string | null = "stop") =>
  readVerdict(equivalence, text, finish);

describe("a judge's reply", () => {
  it.each([
    ["one JSON object", '{"reason": "same", "verdict": "correct"}'],
    ["keys in another order, and others beside", '{"verdict":"correct","sure":1,"reason":"same"}'],
    ["white space around it", '\n  {"reason": "same", "verdict": "correct"} \n'],
    ["a code fence around it", '```json\n{"reason": "same", "verdict": "correct"}\n```'],
    [
      "thoughts before it",
      '<think>{"verdict": "incorrect"}?</think>\n{"reason": "same", "verdict": "correct"}',
    ],
    [
      "thoughts without their beginning",
      'Hm, yes.</think>{"reason": "same", "verdict": "correct"}',
    ],
  ])("is read as %s", (_, text) => {
    expect(read(text)).toEqual({ verdict: "correct", reason: "same", problem: null });
  });

  it.each([
    ["nothing", "", "empty"],
    ["thoughts alone", "<think>It is correct.</think>", "empty"],
    ["a word", "correct", "not-json"],
    ["yes", "Yes.", "not-json"],
    ["prose before it", 'Sure! {"reason": "same", "verdict": "correct"}', "not-json"],
    ["prose after it", '{"reason": "same", "verdict": "correct"} Anything else?', "not-json"],
    ["two objects", '{"verdict": "correct"}{"verdict": "incorrect"}', "not-json"],
    ["a list", '[{"verdict": "correct"}]', "not-json"],
    ["a string", '"correct"', "not-json"],
    ["two verdicts in one", '{"verdict": "incorrect", "verdict": "correct"}', "two-verdicts"],
    ["no verdict", '{"reason": "correct"}', "no-verdict"],
    ["a verdict that is none", '{"verdict": "Correct"}', "no-verdict"],
    ["true", '{"verdict": true}', "no-verdict"],
  ])("is not read from %s", (_, text, problem) => {
    expect(read(text)).toEqual({ verdict: null, problem });
  });

  it("is called cut where the server says that the limit on tokens ended it", () => {
    expect(read('{"reason": "the answ', "length")).toEqual({ verdict: null, problem: "cut" });
    expect(read('{"reason": "r", "verdict": "correct"}', "length").verdict).toBe("correct");
  });

  it("may quote a verdict in its reason", () => {
    const text = JSON.stringify({
      reason: 'It claims {"verdict": "correct"}.',
      verdict: "incorrect",
    });
    expect(read(text).verdict).toBe("incorrect");
  });

  it("may quote tags of thoughts in its reason", () => {
    for (const tags of ["</think>", "<think></think>"]) {
      const text = JSON.stringify({ reason: `Nothing but ${tags}.`, verdict: "incorrect" });
      expect(read(text).verdict).toBe("incorrect");
      expect(read(`<think>Hm.</think>\n${text}`).verdict).toBe("incorrect");
    }
  });

  it("may give a grade as a number", () => {
    expect(readVerdict(graded, '{"reason": "r", "verdict": 7}', "stop").verdict).toBe("7");
    expect(readVerdict(graded, '{"reason": "r", "verdict": 11}', "stop").verdict).toBeNull();
    expect(readVerdict(graded, '{"reason": "r", "verdict": 6.5}', "stop").verdict).toBeNull();
  });
});
