import { describe, expect, it } from "vitest";
import { protocols } from "../../../src/env/protocols/index.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { policyRows } from "../../../src/algorithms/training-rows.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import {
  readable,
  replay,
  rolloutOptions,
  searchEnvironment,
  tagTokenizer,
} from "../../helpers/search-world.ts";

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

/** Agent-R1's grammar. */
const AGENT_R1 = { name: "hermes", thoughtTag: "think", firstCallOnly: true, opensThought: true };
const tokenizer = tagTokenizer("<tool_call>", "</tool_call>");

function play(messages: string[], more: Record<string, unknown> = {}): Promise<Trajectory> {
  const environment = searchEnvironment({ protocol: AGENT_R1, ...more });
  return rollOut(rolloutOptions({ policy: replay(messages, tokenizer), environment }));
}

const SEARCH =
  '<tool_call>{"name": "search", "arguments": {"query": "capital Norway"}}</tool_call>';
const ANSWER = "I know</think><answer>Oslo</answer>";

describe("hermes in Agent-R1's way", () => {
  it("stops at the first call, whose closing tag is the last token, and runs it alone", async () => {
    const trajectory = await play([`<think>a</think>${SEARCH}${SEARCH}`, ANSWER]);
    const [first] = trajectory.turns;
    expect(first?.observations.map(({ tool }) => tool)).toEqual(["search"]);
    expect(trajectory.calls[0]?.completion[0]?.ids.at(-1)).toBe(
      tokenizer.encode("</tool_call>")[0],
    );
    const { stopStrings } = protocols.get("hermes", "test").create({ firstCallOnly: true });
    expect(stopStrings).toEqual(["</tool_call>", "</answer>"]);
    // A server's list of calls has no place to stop at.
    const parsing = protocols.get("hermes", "test").create({ firstCallOnly: true });
    expect(parsing.parse(SEARCH + SEARCH).actions).toHaveLength(1);
  });

  it("opens a thought after each reply, which the policy reads and no loss trains", async () => {
    const trajectory = await play([`<think>a</think>${SEARCH}`, ANSWER]);
    expect(trajectory.turns[1]?.text).toBe("<think>\nI know</think><answer>Oslo</answer>");
    expect(trajectory.calls[1]?.completion.map(({ owner }) => owner)).toEqual([
      "inserted",
      "policy",
    ]);
    expect(readable(trajectory, tokenizer)).toMatch(/inserted: "<think>\\n"/);
    const trained = policyRows(trajectory).flatMap(({ targets, lossMask }) =>
      targets.filter((_, i) => lossMask[i] === 1),
    );
    expect(tokenizer.decode(trained)).toBe(`<think>a</think>${SEARCH}${ANSWER}`);
  });

  it.each([
    ["a call that is no JSON", "{name: search}", "the call is not JSON"],
    ["a call without a name", '{"arguments": {"query": "Oslo"}}', "the call names no tool"],
    ["an unknown tool", '{"name": "browse", "arguments": {}}', 'There is no tool "browse"'],
    [
      "a call without arguments",
      '{"name": "search"}',
      "the call of search lacks the argument query",
    ],
    [
      "arguments of another kind",
      '{"name": "search", "arguments": ["Oslo"]}',
      "the arguments of search are no JSON object",
    ],
    [
      "arguments of another name",
      '{"name": "search", "arguments": {"text": "Oslo"}}',
      "the call of search lacks the argument query",
    ],
    [
      "an argument that is no text",
      '{"name": "search", "arguments": {"query": ["Oslo"]}}',
      "the argument query of search is no text",
    ],
  ])("answers %s by a result that says so, and goes on", async (_, body, text) => {
    const trajectory = await play([`<tool_call>${body}</tool_call>`, ANSWER]);
    const [first] = trajectory.turns;
    expect(first?.observations).toHaveLength(1);
    expect(first?.observations[0]?.problem).toBeDefined();
    expect(first?.observations[0]?.text).toContain(text);
    expect(readable(trajectory, tokenizer)).toContain("<tool_response>");
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("marks where a result was cut by characters", async () => {
    const budgets = [
      { scope: "observation", unit: "characters", limit: 12, onExhausted: "cut", ending: "..." },
    ];
    const cut = await play([SEARCH, ANSWER], { budgets });
    expect(readable(cut, tokenizer)).toContain("<tool_response>\\nDoc 1(Title:...\\n</");
    const wide = [{ ...budgets[0], limit: 2048 }];
    expect(readable(await play([SEARCH, ANSWER], { budgets: wide }), tokenizer)).not.toContain(
      "...",
    );
  });

  it("ends after five messages, or at one without a call", async () => {
    const budgets = [{ scope: "trajectory", unit: "turns", limit: 4, onExhausted: "final-turn" }];
    const all = [SEARCH, ...Array.from({ length: 9 }, () => `more</think>${SEARCH}`)];
    const long = await play(all, { budgets });
    expect(long).toMatchObject({ end: "turn-limit" });
    expect(long.turns.map(({ observations }) => observations.length)).toEqual([1, 1, 1, 1, 0]);
    const ended = await play([SEARCH, "I stop"], { budgets, onInvalid: "end" });
    expect(ended).toMatchObject({ end: "invalid", answer: null });
  });
});

describe("hermes in MT-GRPO's way", () => {
  const given = { callTag: "tool", argumentsKey: "args", resultTag: "result" };
  const grammar = { name: "hermes", ...given, thoughtTag: "reasoning", firstCallOnly: true };
  const { protocol: own, toolSchemas } = searchEnvironment({ protocol: grammar });

  it("writes and reads its own tags and keys", () => {
    const action = { tool: "search", input: "capital Norway" };
    const text = own.write({ thought: "a", action }, toolSchemas);
    expect(text).toBe(
      '<reasoning>\na\n</reasoning>\n<tool>\n{"name": "search", "args": {"query":"capital Norway"}}\n</tool>',
    );
    expect(own.parse(text)).toEqual({ actions: [action], problems: [] });
    expect(own.renderObservations([{ tool: "search", text: "Oslo" }])).toBe(
      "<result>\nOslo\n</result>",
    );
    expect(own.instructions(toolSchemas)).toContain('<tool>{"name": …, "args": {…}}</tool>');
    expect(own.tags.map(({ name }) => name)).toEqual(["reasoning", "tool", "result", "answer"]);
  });

  it("ends at the second call, without a response", async () => {
    const budgets = [{ scope: "trajectory", unit: "calls", limit: 1, onExhausted: "final-turn" }];
    const text = own.write({ thought: "", action: { tool: "search", input: "Oslo" } }, toolSchemas);
    const trajectory = await play([text, text], { protocol: grammar, budgets });
    expect(trajectory.turns.map(({ observations }) => observations.length)).toEqual([1, 0]);
    expect(trajectory).toMatchObject({ end: "turn-limit", answer: null });
  });
});
