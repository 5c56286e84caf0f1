import { describe, expect, it } from "vitest";
import { wrapText } from "../../src/cli/commands/recipes-list.ts";

describe("wrapText", () => {
  it("wraps at words, and indents further lines by the label", () => {
    expect(wrapText("one two three four five six", "a  ", 24)).toBe(
      "a  one two three four\n   five six",
    );
  });

  it("keeps a pipe's text on one line, and a word that is too long whole", () => {
    expect(wrapText("one two", "a  ")).toBe("a  one two");
    expect(wrapText("x".repeat(40), "a  ", 10)).toBe(`a  ${"x".repeat(40)}`);
  });
});
