import { describe, expect, it } from "vitest";
import { protocols } from "../../../src/env/protocols/index.ts";

const protocol = protocols.get("hermes", "test").create({});

describe("hermes", () => {
  it("reads several calls of one message, and the answer only where nothing is called", () => {
    const call = '<tool_call>{"name": "search", "arguments": {"query": " Oslo "}}</tool_call>';
    const action = { tool: "search", input: "Oslo" };
    expect(protocol.parse(`${call}\n${call}<answer>Oslo</answer>`).actions).toEqual([
      action,
      action,
    ]);
    expect(protocol.parse("<answer> Oslo </answer>").actions).toEqual([
      { tool: "answer", input: "Oslo" },
    ]);
  });

  it("takes a call of a tool named answer for a bad call, since nothing would be found between the tags", () => {
    const text = '<tool_call>{"name": "answer", "arguments": {"answer": "Oslo"}}</tool_call>';
    const message = "the answer is no tool; it is written between <answer> and </answer>";
    expect(protocol.parse(text)).toEqual({
      actions: [{ tool: "", input: message }],
      problems: [{ code: "bad-call", message }],
    });
  });
});
