import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { extractAnswer } from "../../src/env/answer-rule.ts";
import { protocols } from "../../src/env/protocols/index.ts";
import type { Action } from "../../src/trajectory/trajectory.ts";

/** How a policy writes actions under each grammar, and the pieces of text that its parser looks for. */
const GRAMMARS: Record<string, { write: (action: Action) => string; pieces: readonly string[] }> = {
  "search-r1": {
    write: ({ tool, input }) => `<think>so</think><${tool}> ${input} </${tool}>`,
    pieces: [
      "<search>",
      "</search>",
      "<answer>",
      "</answer>",
      "<think>",
      "</think>",
      "<information>",
    ],
  },
  hermes: {
    write: ({ tool, input }) =>
      tool === "answer"
        ? `<think>so</think><answer> ${input} </answer>`
        : `<think>so</think><tool_call>${JSON.stringify({ name: tool, arguments: { query: input } })}</tool_call>`,
    pieces: [
      "<tool_call>",
      "</tool_call>",
      '{"name": "search"',
      "}",
      "<answer>",
      "</answer>",
      "[1]",
    ],
  },
};

const ACTIONS: Action[] = [
  { tool: "search", input: "capital of Norway" },
  { tool: "search", input: "two\nlines, a < b & c > d, $& and 雪" },
  { tool: "answer", input: "Oslo" },
];

const parts = protocols.parts.map((part) => ({ name: part.name, part }));

describe.each(parts)("protocol $name", ({ name, part }) => {
  const protocol = part.create(part.options.parse({}));
  const grammar = GRAMMARS[name] ?? expect.fail(`no grammar for ${name}`);
  /** Texts of tags in any order between words: most are broken. */
  const texts = Array.from({ length: 2000 }, (_, i) => {
    const draw = random("protocol").derive(i);
    const pieces = [...grammar.pieces, "Oslo", " ", "\n", "<", "</", ">", "\u0000", "😀", "\ud800"];
    return Array.from({ length: draw.int(12) }, () => draw.pick(pieces)).join("");
  });

  it("reads the actions that a policy wrote", () => {
    for (const action of ACTIONS) {
      const text = grammar.write(action);
      expect(protocol.parse(text)).toEqual({ actions: [action], problems: [] });
      const cut = protocol.findCut(`${text} and so on`);
      expect(text.slice(0, cut ?? undefined)).toBe(text);
    }
  });

  it("reads an answer with its own answer rule", () => {
    const messages = [grammar.write({ tool: "answer", input: "Oslo" })];
    expect(extractAnswer(protocol.answer, { prompt: "", messages })).toBe("Oslo");
    expect(
      extractAnswer(protocol.answer, { prompt: messages.join(), messages: ["no"] }),
    ).toBeNull();
  });

  it("opens an answer as a policy would", () => {
    const whole = grammar.write({ tool: "answer", input: "Oslo" });
    const closing = whole.slice(whole.indexOf("Oslo"));
    expect(protocol.parse(`${protocol.answerOpening}${closing}`).actions).toEqual([
      { tool: "answer", input: "Oslo" },
    ]);
  });

  it("parses any text into actions or problems, and never throws", () => {
    for (const text of texts) {
      const { actions, problems } = protocol.parse(text);
      expect(actions.length + problems.length).toBeGreaterThan(0);
    }
  });

  it("cuts within the text, and what was cut is not cut again", () => {
    for (const text of texts) {
      const cut = protocol.findCut(text);
      if (cut === null) continue;
      expect(cut).toBeGreaterThan(0);
      expect(cut).toBeLessThanOrEqual(text.length);
      expect(protocol.findCut(text.slice(0, cut))).toBe(cut);
    }
  });

  it("loses nothing when an engine stops at its stop strings", () => {
    const taken = (text: string): string => text.slice(0, protocol.findCut(text) ?? undefined);
    for (const text of texts) {
      for (const stop of protocol.stopStrings) {
        const at = text.indexOf(stop);
        if (at >= 0) expect(taken(text.slice(0, at + stop.length))).toBe(taken(text));
      }
    }
  });

  it("tells all tags that it writes and shows", () => {
    const written = [
      ...ACTIONS.map((action) => protocol.write({ thought: "so", action }, [])),
      protocol.renderObservations([{ tool: "search", text: "Oslo" }]),
    ].join("");
    for (const [, name] of written.matchAll(/<\/?(\w+)>/g))
      expect(protocol.tags.map((tag) => tag.name)).toContain(name);
    expect(new Set(protocol.tags.map(({ holds }) => holds)).size).toBe(4);
  });

  it("shows observations whole, in a message and in a prompt", () => {
    const observation = { tool: "search", text: "Doc 1(Title: Oslo) $& A city.\n" };
    expect(protocol.renderObservations([observation])).toContain(observation.text);
    expect(protocol.renderContext(observation)).toContain(observation.text);
    expect(protocol.renderProblems([{ code: "any", message: "any" }])).not.toBe("");
  });
});
