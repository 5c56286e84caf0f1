import { expect, it } from "vitest";
import { problemLines, sampleText } from "../../src/cli/data-check-text.ts";

it("shows the first records as they were understood, each on one line", () => {
  const annotations = {};
  const table = sampleText([
    { id: "1", question: "Who\nwrote it?", references: ["Ada", "A. Roth"], annotations },
    { id: "2", question: "x".repeat(60), references: ["42"], annotations },
  ]);
  expect(table.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["id", "question", "answers"],
    ["1", "Who wrote it?", "Ada | A. Roth"],
    ["2", `${"x".repeat(47)}…`, "42"],
  ]);
  expect(sampleText([])).toBe("");
});

it("says one kind of problem once, with the places of the others", () => {
  const bad = (line: number, found: string): string =>
    `a.csv:${line}: "gold" is ${found}: expected an accepted answer.`;
  const many = Array.from({ length: 21 }, (_, i) => bad(i + 2, `"${" ".repeat(i)}"`));
  const other = 'a.csv:9: the id "x" is the same as in a.csv:3.';
  const twin = 'a.csv:10: the id "y" is the same as in a.csv:4.';
  expect(problemLines([...many, other, twin])).toEqual([
    bad(2, '""'),
    "  and 20 more of this kind: 3, 4, 5, 6, 7, …",
    other,
    "  and 1 more of this kind: 10",
  ]);
});
