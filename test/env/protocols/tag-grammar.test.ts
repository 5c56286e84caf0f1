import { describe, expect, it } from "vitest";
import { extractAnswer } from "../../../src/env/answer-rule.ts";
import { protocols } from "../../../src/env/protocols/index.ts";
import type { Protocol } from "../../../src/env/protocols/protocol.ts";
import { pairedTags } from "../../../src/synth/steps/paired-tags.ts";
import { searchEnvironment } from "../../helpers/search-world.ts";

const world = { tools: searchEnvironment().toolSchemas, answers: true };

function grammar(options: object, name = "tags"): Protocol {
  const part = protocols.get(name, "test");
  return part.create(part.options.parse(options), world);
}

const found = [{ tool: "search", text: "Doc 1(Title: Oslo) A city.\n" }];
const search = { thought: "so", action: { tool: "search", input: "capital of Norway" } };
const answer = { thought: "", action: { tool: "answer", input: "Oslo" } };

function answerIn(protocol: Protocol, ...messages: string[]): string | null {
  return extractAnswer(protocol.answer, { prompt: "", messages });
}

describe("ReSearch's grammar (arXiv 2503.19470): spliced results, boxed answers", () => {
  const protocol = grammar({ spliced: true, boxed: true });

  it("puts the result behind the call, without a line of its own", () => {
    expect(protocol.renderObservations(found)).toBe(
      " <result>\nDoc 1(Title: Oslo) A city.\n</result>",
    );
  });

  it("writes the answer in a box and reads it there, with braces inside", () => {
    const written = protocol.write(answer, world.tools);
    expect(written).toBe("<answer> \\boxed{ Oslo}</answer>");
    expect(answerIn(protocol, written)).toBe("Oslo");
    const set = "<answer>It is \\boxed{x^{2} + 1}, surely.</answer>";
    expect(answerIn(protocol, set)).toBe("x^{2} + 1");
  });

  it("finds no answer outside of a box, nor a box outside of the tags", () => {
    expect(answerIn(protocol, "<answer>Oslo</answer>")).toBeNull();
    expect(answerIn(protocol, "\\boxed{Oslo}<answer>Oslo</answer>")).toBeNull();
    expect(answerIn(protocol, "<answer>Oslo</answer> \\boxed{Bergen} </answer>")).toBeNull();
  });

  it("leaves a recipe's own answer rule as it is", () => {
    const rule = { pattern: "=(.*?);" };
    expect(grammar({ boxed: true, answer: rule }).answer).toMatchObject(rule);
  });
});

describe("answers in a box without tags, as models of mathematics write them", () => {
  const protocol = grammar({ boxed: "alone", thoughts: false });

  it("writes and reads a box, and leaves the text around it alone", () => {
    expect(protocol.write(answer, world.tools)).toBe("\\boxed{ Oslo}");
    const text = "So \\boxed{1}, no: \\boxed{\\frac{\\sqrt{3}}{2}} it is.";
    const input = "\\frac{\\sqrt{3}}{2}";
    expect(protocol.parse(text)).toEqual({ actions: [{ tool: "answer", input }], problems: [] });
    expect(answerIn(protocol, text)).toBe(input);
    expect(protocol.findCut(text)).toBeNull();
    expect(protocol.stopStrings).toEqual(["</search>"]);
  });

  it.each(["12", "<answer>12</answer>", "\\boxed{12", "\\boxed{{12}"])(
    "finds none in %j",
    (text) => {
      expect(protocol.parse(text).actions).toEqual([]);
      expect(answerIn(protocol, text)).toBeNull();
    },
  );
});

describe("R1-Searcher's grammar (arXiv 2503.05592): tags of two texts", () => {
  const callTags = { search: { opening: "<|begin_of_query|>", closing: "<|end_of_query|>" } };
  const resultTag = { opening: "<|begin_of_documents|>", closing: "<|end_of_documents|>" };
  const protocol = grammar({ callTags, resultTag, spliced: true });
  const written = "<think> so</think><|begin_of_query|> capital of Norway<|end_of_query|>";

  it("writes, cuts and reads them", () => {
    expect(protocol.write(search, world.tools)).toBe(written);
    expect(protocol.stopStrings).toEqual(["<|end_of_query|>", "</answer>"]);
    expect(protocol.findCut(`${written} more`)).toBe(written.length);
    expect(protocol.parse(written)).toEqual({ actions: [search.action], problems: [] });
    expect(protocol.renderObservations(found)).toMatch(/^ <\|begin_of_documents\|>\nDoc 1.*\n<\|/);
  });

  it("knows the tool's plain tag no more, and says which tags it knows", () => {
    const [problem] = protocol.parse("<search>x</search>").problems;
    expect(problem?.code).toBe("no-action");
    expect(problem?.message).toContain("<|begin_of_query|>…<|end_of_query|>");
    expect(protocol.instructions(world.tools)).toContain("<|begin_of_query|>…<|end_of_query|>: ");
  });

  it("has them paired in a check of a message", () => {
    expect(pairedTags(written, protocol.tags)).toMatchObject([
      { holds: "thought" },
      { holds: "call", end: written.length },
    ]);
    expect(pairedTags("<|begin_of_query|> x", protocol.tags)).toBe("unpaired tag");
    expect(pairedTags("<|begin_of_documents|> x", protocol.tags)).toBe("faked observation");
  });
});

describe("AutoRefine's grammar (arXiv 2505.11277): Search-R1's with documents and refine", () => {
  const protocol = grammar({ resultTag: "documents", blocks: ["refine"] }, "search-r1");

  it("shows documents, and names refine among its tags as the policy's own", () => {
    expect(protocol.renderObservations(found)).toBe(
      "\n\n<documents>Doc 1(Title: Oslo) A city.\n</documents>\n\n",
    );
    expect(protocol.tags.map(({ name, holds }) => `${name}: ${holds}`)).toEqual([
      ...["think: thought", "refine: block", "search: call", "documents: observation"],
      "answer: answer",
    ]);
  });

  it("reads the action behind a block, and names its tags in the instructions", () => {
    const message = "<refine> Oslo</refine><answer> Oslo</answer>";
    expect(protocol.parse(message).actions).toEqual([{ tool: "answer", input: "Oslo" }]);
    expect(pairedTags(message, protocol.tags)).toMatchObject([
      { name: "refine", holds: "block" },
      { name: "answer" },
    ]);
    expect(protocol.instructions(world.tools)).toContain("between <documents> and </documents>");
  });
});

describe("intermediate answers (arXiv 2505.19640)", () => {
  const pairs = "<think> a</think><answer> x</answer><think> b</think><answer> y</answer>";
  const call = "<search> Oslo</search>";

  it.each(["tags", "search-r1"])("lets a message of %s go on; its last answer counts", (name) => {
    const protocol = grammar({ intermediateAnswers: true }, name);
    expect(protocol.stopStrings).not.toContain("</answer>");
    expect(protocol.findCut(pairs)).toBeNull();
    expect(protocol.parse(pairs)).toEqual({
      actions: [{ tool: "answer", input: "y" }],
      problems: [],
    });
    expect(answerIn(protocol, pairs)).toBe("y");
  });

  it.each(["tags", "search-r1"])("ends a message of %s after a call", (name) => {
    const protocol = grammar({ intermediateAnswers: true }, name);
    const text = `<answer> x</answer>${call}`;
    expect(protocol.findCut(`${text} more`)).toBe(text.length);
    expect(protocol.parse(text).actions).toEqual([{ tool: "search", input: "Oslo" }]);
  });

  it("ends a message after its first answer without the option", () => {
    const protocol = grammar({});
    expect(protocol.findCut(pairs)).toBe("<think> a</think><answer> x</answer>".length);
    expect(protocol.parse(pairs).actions).toEqual([{ tool: "answer", input: "x" }]);
  });
});

describe("SmartRAG's grammar (arXiv 2410.18141): a first word that names the action", () => {
  const protocol = grammar({
    thoughts: false,
    callTags: { search: { opening: "[Search]", closing: "\n" } },
    answerTag: { opening: "[Answer]", closing: "\n" },
  });

  it("writes and reads an action alone, up to the end of its line", () => {
    expect(protocol.write(search, world.tools)).toBe("[Search] capital of Norway\n");
    expect(protocol.parse("[Search] capital of Norway\n").actions).toEqual([search.action]);
    expect(protocol.parse("[Answer] Oslo\n").actions).toEqual([answer.action]);
    expect(answerIn(protocol, protocol.write(answer, world.tools))).toBe("Oslo");
    expect(protocol.stopStrings).toEqual(["\n", "\n"]);
    expect(protocol.answerOpening).toBe("[Answer]");
  });

  it("has no action where another word comes first", () => {
    const cut = protocol.findCut("Oslo\n[Answer] Oslo\n");
    expect(cut).toBe("Oslo\n".length);
    expect(protocol.parse("Oslo\n").problems).toMatchObject([{ code: "no-action" }]);
  });
});

describe("fences, as CoRT and CIR write programs (arXiv 2506.09820, 2505.24480)", () => {
  const protocol = grammar({
    callTags: { search: { opening: "```python\n", closing: "\n```" } },
    resultTag: { opening: "```output\n", closing: "\n```\n" },
    thoughts: false,
    boxed: "alone",
    spliced: true,
  });
  const call = "```python\nprint(1)\nprint(2)\n```";

  it("writes and reads a block, and shows what it printed in another one", () => {
    const input = "print(1)\nprint(2)";
    expect(protocol.write({ thought: "", action: { tool: "search", input } }, world.tools)).toBe(
      call,
    );
    expect(protocol.parse(`So\n${call}`).actions).toEqual([{ tool: "search", input }]);
    expect(protocol.renderObservations([{ tool: "search", text: "1\n2" }])).toBe(
      " ```output\n1\n2\n```\n",
    );
  });

  it("cuts behind the first whole block, and not at a fence that closes no call", () => {
    const other = "It prints\n```text\n1\n```\nso ";
    expect(protocol.findCut(`${other}${call}\nmore`)).toBe(other.length + call.length);
    expect(protocol.findCut(`Now\n${call.slice(0, -4)}`)).toBeNull();
    expect(protocol.findCut(other)).toBeNull();
    expect(protocol).toMatchObject({ stopStrings: ["\n```"], resumes: true });
  });

  it("leaves tags of which none holds the other as they are", () => {
    const retool = grammar({
      callTags: { search: { opening: "<code>\n```python\n", closing: "\n```\n</code>" } },
    });
    expect(retool.resumes).toBeUndefined();
    expect(retool.findCut(`<code>\n${call}\n</code>\n`)).toBe(call.length + 15);
  });
});
