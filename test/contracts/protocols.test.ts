import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { extractAnswer } from "../../src/env/answer-rule.ts";
import { protocols } from "../../src/env/protocols/index.ts";
import type { Protocol } from "../../src/env/protocols/protocol.ts";
import type { ToolSchema } from "../../src/http/chat-messages.ts";
import type { Action } from "../../src/trajectory/trajectory.ts";
import { searchEnvironment } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const ACTIONS: Action[] = [
  { tool: "search", input: "capital of Norway" },
  { tool: "search", input: "two\nlines, a < b & c > d, $& and 雪" },
  { tool: "answer", input: "Oslo" },
];

const SEARCH: ToolSchema = {
  type: "function",
  function: {
    name: "search",
    description: "Searches the corpus.",
    parameters: { type: "object", properties: { query: { type: "string" } } },
  },
};

/** What a policy writes that knows the grammar. */
function write(protocol: Protocol, action: Action): string {
  return protocol.write({ thought: "so", action }, [SEARCH]);
}

/** The tags of a grammar, and its messages as a whole, cut in two, and as words and marks. */
function piecesOf(protocol: Protocol): string[] {
  const messages = ACTIONS.map((action) => write(protocol, action));
  return [
    ...protocol.tags.flatMap(({ name }) => [`<${name}>`, `</${name}>`]),
    ...messages.flatMap((text) => {
      const half = text.length >> 1;
      return [text, text.slice(0, half), text.slice(half), ...(text.match(/\w+|[^\w\s]/g) ?? [])];
    }),
  ];
}

const parts = protocols.parts.map((part) => ({ name: part.name, part }));

describe.each(parts)("protocol $name", ({ part }) => {
  const protocol = part.create(part.options.parse({}), {
    tools: searchEnvironment().toolSchemas,
    answers: true,
  });
  const pieces = [...piecesOf(protocol), " ", "\n", "<", "</", ">", "\u0000", "😀", "\ud800"];
  /** Texts of pieces in any order: most are broken. */
  const texts = Array.from({ length: 2000 }, (_, i) => {
    const draw = random("protocol").derive(i);
    return Array.from({ length: draw.int(12) }, () => draw.pick(pieces)).join("");
  });

  it("reads the actions that a policy wrote", () => {
    for (const action of ACTIONS) {
      const text = write(protocol, action);
      expect(protocol.parse(text)).toEqual({ actions: [action], problems: [] });
      const cut = protocol.findCut(`${text} and so on`);
      expect(text.slice(0, cut ?? undefined)).toBe(text);
    }
  });

  it("reads an answer with its own answer rule", () => {
    const messages = [write(protocol, { tool: "answer", input: "Oslo" })];
    expect(extractAnswer(protocol.answer, { prompt: "", messages })).toBe("Oslo");
    expect(
      extractAnswer(protocol.answer, { prompt: messages.join(), messages: ["no"] }),
    ).toBeNull();
  });

  it("opens an answer as a policy would", () => {
    const whole = write(protocol, { tool: "answer", input: "Oslo" });
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
      ...ACTIONS.map((action) => write(protocol, action)),
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
