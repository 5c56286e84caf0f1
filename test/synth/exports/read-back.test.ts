import { describe, expect, it } from "vitest";
import { protocols } from "../../../src/env/protocols/index.ts";
import type { Message } from "../../../src/synth/exports/conversation.ts";
import { misread } from "../../../src/synth/exports/read-back.ts";
import { madeTrajectory } from "../../helpers/made-pairs.ts";

const protocol = protocols.get("search-r1", "test").create({});
const tool = {
  name: "search",
  description: "",
  parameters: { type: "object", properties: { query: { type: "string" } } },
};
const telling = { protocol, tools: [{ type: "function" as const, function: tool }], follows: true };

const { turns } = madeTrajectory("t", [
  { text: "<think> x</think><search> a</search>", reply: "b" },
  { text: "<answer> b</answer>" },
]);
const told = (...contents: string[]): Message[] =>
  contents.map((content, turn) => ({ role: "assistant", content, turn }));
const wrongIn = (...contents: string[]) => misread(told(...contents), turns, telling);

describe("a conversation to be exported", () => {
  it("is read back where each message has its tags in pairs and its own action", () => {
    expect(wrongIn("<search> a</search>", "<answer> b</answer>")).toBeNull();
  });

  it.each([
    ["</think><search> a</search>", "unpaired tag"],
    ["<think> x</think>", "no valid action"],
    ["<search> c</search>", "another action"],
  ])("is not read back with the message %s", (content, wrong) => {
    expect(wrongIn(content, "<answer> b</answer>")).toBe(wrong);
  });

  it("needs no action where the strategy has its own prompts, but pairs of tags", () => {
    const own = { ...telling, follows: false };
    expect(misread(told("Query: a"), turns, own)).toBeNull();
    expect(misread(told("a</think>"), turns, own)).toBe("unpaired tag");
  });

  it("needs the native call of its action, and a result for it", () => {
    const call = { id: "call_0_0", name: "search", arguments: { query: "a" } };
    const asks: Message = {
      role: "assistant",
      content: "<think> x</think>",
      turn: 0,
      calls: [call],
    };
    const [answers] = told("<answer> b</answer>");
    const ends = { ...answers!, turn: 1 };
    const result: Message = { role: "tool", content: "b", callId: call.id, name: "search" };
    expect(misread([asks, result, ends], turns, telling)).toBeNull();
    expect(misread([asks, { role: "user", content: "b" }, ends], turns, telling)).toBe(
      "call without result",
    );
    const other = { ...asks, calls: [{ ...call, arguments: { query: "c" } }] };
    expect(misread([other, result, ends], turns, telling)).toBe("another action");
  });
});
