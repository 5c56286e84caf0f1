import { describe, expect, it } from "vitest";
import { type PlannedMessage, textAfter } from "../../src/env/protocols/protocol.ts";
import { searchEnvironment } from "../helpers/search-world.ts";

const PLAN: PlannedMessage = {
  thought: "I need the capital.",
  action: { tool: "search", input: "capital of Norway" },
};
const grammars = ["search-r1", "hermes"].map((protocol) => {
  const { protocol: grammar, toolSchemas: tools } = searchEnvironment({ protocol });
  return { name: protocol, grammar: { protocol: grammar, tools } };
});
const [tags] = grammars;
const after = (opening: string, plan = PLAN): string => textAfter(opening, plan, tags!.grammar);

describe("textAfter", () => {
  it("is the whole message after nothing", () => {
    expect(after("")).toBe(
      "<think> I need the capital.</think><search> capital of Norway</search>",
    );
  });

  it("goes on within its own words", () => {
    expect(after("<think> I need")).toBe(
      " the capital.</think><search> capital of Norway</search>",
    );
  });

  it("completes an opened answer", () => {
    const action = { tool: "answer", input: "Oslo" };
    expect(after("<answer>", { thought: "I know.", action })).toBe(" Oslo</answer>");
  });

  it("thinks on after a thought that it was given", () => {
    expect(after("<think> Step by step.")).toBe(
      " I need the capital.</think><search> capital of Norway</search>",
    );
  });

  it("does not think again what was thought before a hint", () => {
    expect(after("<think> I need the capital. Wait, I could search.")).toBe(
      "</think><search> capital of Norway</search>",
    );
  });

  it("acts where the thinking has ended", () => {
    expect(after("<think> Hm.</think>")).toBe("\n<search> capital of Norway</search>");
  });

  it("adds nothing to a message that acts already", () => {
    expect(after("<search>Norway</search>")).toBe("");
  });

  it.each(grammars)("acts as planned after any opening, in $name", ({ grammar }) => {
    const openings = [
      "",
      "Let me see.",
      "First, the capital.\n",
      "<think>Hm.",
      "<think>Hm.</think>",
    ];
    for (const opening of openings) {
      const text = opening + textAfter(opening, PLAN, grammar);
      expect(grammar.protocol.parse(text), text).toEqual({ actions: [PLAN.action], problems: [] });
    }
  });
});
