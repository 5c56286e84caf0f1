import { describe, expect, it } from "vitest";
import { type NeededPassage, readingOf } from "../../../src/synth/teachers/sought-steps.ts";
import type { Turn } from "../../../src/trajectory/trajectory.ts";

const text = "Mercury is the smallest planet and the closest one to the Sun.";
const planet: NeededPassage = { id: "planet", title: "Mercury", text, parts: [text] };
const returning = (...passageIds: string[]): Turn[] => [
  {
    ...{ call: 0, text: "", actions: [], problems: [] },
    observations: [{ tool: "search", text: "", passageIds }],
  },
];

describe("whether a needed passage was read", () => {
  it("is not told by another passage of the same title", () => {
    const element = "Doc 1(Title: Mercury) Mercury is a chemical element, a liquid metal.\n";
    expect(readingOf(returning("element"), element)(planet)).toBe(false);
  });

  it("is told by its text where the corpus has other ids, cut or titled in quotes", () => {
    for (const line of ["Doc 1(Title: Mercury) ", 'Doc 1(Title: "Mercury") ']) {
      expect(readingOf(returning("c-7"), `${line}${text.slice(0, 50)}\n`)(planet)).toBe(true);
    }
  });

  it("is told by its title alone only where no text is known", () => {
    const titleOnly = { id: null, title: "Mercury", text: "", parts: [] };
    const shown = "Doc 1(Title: Mercury) Anything.\n";
    expect(readingOf(returning("c-7"), shown)(titleOnly)).toBe(true);
  });

  it("needs the whole text of a passage that was returned by its id", () => {
    const whole = `Doc 1(Title: Mercury) ${text}\n`;
    expect(readingOf(returning("planet"), whole)(planet)).toBe(true);
    expect(readingOf(returning("planet"), whole.slice(0, 60))(planet)).toBe(false);
  });
});
