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

  it("does not know answers in a world without them", () => {
    const tools = [
      { type: "function", function: { name: "move", description: "Moves.", parameters: {} } },
    ] as const;
    const world = protocols.get("hermes", "test").create({}, { tools, answers: false });
    const text = "<answer>Oslo</answer>";
    expect(world.findCut(text)).toBeNull();
    expect(world.parse(text)).toMatchObject({ actions: [], problems: [{ code: "no-action" }] });
    expect(world.tags.map(({ holds }) => holds)).not.toContain("answer");
    expect(world.instructions(tools)).not.toContain("answer");
    expect(world.renderProblems([])).not.toContain("answer");
    const own = { invalidMessage: "Answer by a move." };
    const told = protocols.get("hermes", "test").create(own, { tools, answers: false });
    expect(told.renderProblems([])).toBe(own.invalidMessage);
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
