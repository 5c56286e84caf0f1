import { describe, expect, it } from "vitest";
import { protocols } from "../../../src/env/protocols/index.ts";
import { type Protocol, answerIn } from "../../../src/env/protocols/protocol.ts";
import { actsInThought } from "../../../src/env/protocols/thoughts.ts";

const parameters = {
  type: "object",
  properties: { query: { type: "string" } },
  required: ["query"],
};
const tools = [
  { type: "function", function: { name: "search", description: "Searches.", parameters } },
] as const;
const create = (name: string, options: object = {}): Protocol =>
  protocols.get(name, "test").create(options, { tools, answers: true });
const call = (query: string): string =>
  `<tool_call>{"name": "search", "arguments": {"query": "${query}"}}</tool_call>`;

describe("thoughts of hermes", () => {
  const protocol = create("hermes");
  /** The queries or the answer of a message, cut as its dialogue cuts it. */
  const done = (text: string): string[] => {
    const cut = text.slice(0, protocol.findCut(text) ?? undefined);
    return protocol.parse(cut).actions.map(({ input }) => input);
  };

  it.each([
    ["a quoted call", `<think>I could write ${call("Bern")} but no</think>${call("Oslo")}`, ["Oslo"]],
    ["a draft of the answer", "<think>Maybe <answer>Bern</answer>? No.</think><answer>Oslo</answer>", ["Oslo"]],
    ["repeated thoughts", `<think>${call("a")}</think>\n<think>${call("b")}</think>${call("c")}`, ["c"]],
    ["nested thoughts", `<think>a <think>b</think> ${call("x")}</think>${call("y")}`, ["y"]],
    ["a thought that names its tag", `<think>I use <think> tags.</think>${call("y")}`, ["y"]],
    ["a thought that is opened twice", `<think>\n<think>${call("x")}</think>${call("y")}${call("z")}`, ["y", "z"]],
    ["an unclosed thought", `<think>so ${call("x")} <answer>z</answer>`, []],
    ["a thought behind a call", `${call("x")}<think>or ${call("y")}`, ["x"]],
    ["a thought that the prompt opened", `so ${call("x")}?</think>${call("y")}`, ["y"]],
    ["attributes and case", `<THINK type="long">${call("x")}</Think>${call("y")}`, ["y"]],
    ["other names", `<thinking>${call("x")}</thinking><reasoning>${call("z")}</reasoning>${call("y")}`, ["y"]],
    ["an empty thought", `<think/>${call("y")}`, ["y"]],
    ["tags inside of an answer", "<answer>the <think> tag</answer>", ["the <think> tag"]],
    ["tags inside of a call", call("what is <think>"), ["what is <think>"]],
  ])("keeps %s from acting", (_, text, expected) => {
    expect(done(text)).toEqual(expected);
  }); // prettier-ignore

  it("keeps drafts from the answer's rule and from the cut of a message under way", () => {
    const message = "<think>Maybe <answer>Bern</answer>?</think> <answer>Oslo</answer> Bye.";
    expect(answerIn(protocol, { prompt: "", messages: [message] })).toBe("Oslo");
    expect(protocol.findCut("<think>Maybe <answer>Bern</answer>")).toBeNull();
    expect(protocol.findCut("<think>\n<think>x</think><answer>Oslo</answer>")).not.toBeNull();
    expect(message.slice(0, protocol.findCut(message) ?? 0)).toMatch(/Oslo<\/answer>$/);
  });

  it("holds for the tags that options give thoughts and calls", () => {
    const own = create("hermes", { thoughtTag: "plan", callTag: "tool", firstCallOnly: true });
    const tool = (query: string): string => call(query).replaceAll("tool_call", "tool");
    const text = `<plan>${tool("x")}</plan>${tool("y")}`;
    expect(own.parse(text).actions).toEqual([{ tool: "search", input: "y" }]);
    expect(own.findCut(text)).toBe(text.length);
  });
});

describe("actsInThought", () => {
  it("finds what acts inside of a thought where a grammar takes the first tag", () => {
    const protocol = create("search-r1");
    expect(actsInThought("<think>Maybe <answer>Bern</answer>", protocol)).toBe(true);
    expect(actsInThought("<think>a</think><answer>Oslo</answer>", protocol)).toBe(false);
    expect(actsInThought("<answer>Oslo</answer>", protocol)).toBe(false);
    expect(actsInThought("<think>a</think>", protocol)).toBe(false);
  });
});

describe("arguments of a call", () => {
  const input = (given: object, of = tools as readonly unknown[]): unknown => {
    const world = { tools: of as typeof tools, answers: true };
    const protocol = protocols.get("hermes", "test").create({}, world);
    const text = `<tool_call>${JSON.stringify({ name: "search", arguments: given })}</tool_call>`;
    return protocol.parse(text).actions[0]?.input;
  };
  const schema = (properties: object, more: object = {}): readonly unknown[] => [
    { type: "function", function: { name: "search", description: "", parameters: { type: "object", properties, ...more } } },
  ]; // prettier-ignore
  const text = { type: "string" };

  it("that the tool does not declare never reach it", () => {
    expect(input({ query: "capital of Norway", top_k: 3 })).toBe("capital of Norway");
    expect(input({ top_k: 3, query: "capital of Norway" })).toBe("capital of Norway");
    expect(input({ top_k: 3 })).toBe("the call of search lacks the argument query");
    expect(input({ q: "Oslo" }, schema({ query: text }))).toBe("");
    const two = schema({ query: text, site: text });
    expect(input({ query: "a", site: "b", k: 1 }, two)).toBe('{"query":"a","site":"b"}');
  });

  it("keep their names where the tool has several", () => {
    const two = schema({ query: text, site: text });
    expect(input({ query: "a" }, two)).toBe("a");
    expect(input({ site: "b" }, two)).toBe('{"site":"b"}');
    expect(input({ query: '{"site": "b"}' }, two)).toBe('{"query":"{\\"site\\": \\"b\\"}"}');
  });

  it("stay where the tool takes any", () => {
    const open = schema({ query: text }, { additionalProperties: {} });
    expect(input({ query: "a", k: 1 }, open)).toBe('{"query":"a","k":1}');
  });
});
