import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import { checkPuzzles } from "../../../src/worlds/knights/index.ts";

const task = async () => {
  const dataset = await openDataset({ name: "knights-knaves", questions: 1 }, "test");
  const [first] = await dataset.tasks();
  if (first === undefined) throw new Error("no puzzle");
  return first;
};
const codesOf = (...args: Parameters<typeof checkPuzzles>) =>
  checkPuzzles(...args).problems.map(({ code }) => code);

describe("checkPuzzles", () => {
  it("finds a wrong reference, a text that is no puzzle, and a puzzle that is left open", async () => {
    const right = await task();
    const open = "Abe says that Abe is a knight. Who is a knight and who is a knave?";
    expect(codesOf([right])).toEqual([]);
    expect(codesOf([{ ...right, references: ["nobody"] }])).toEqual(["answer-differs"]);
    expect(codesOf([{ ...right, question: "Who?" }])).toEqual(["question-unreadable"]);
    expect(codesOf([{ ...right, question: open }])).toEqual(["solution-open"]);
  });
});
