import { describe, expect, it } from "vitest";
import {
  deduction,
  FORM_NAMES,
  forced,
  partsOf,
  type Puzzle,
  puzzleText,
  readPuzzle,
  solutionsOf,
} from "../../../src/worlds/knights/puzzle.ts";

/** Smullyan's: A says that at least one of the two is a knave; so A is a knight and B is a knave. */
const TWO: Puzzle = {
  names: ["Abe", "Bea"],
  statements: [
    { speaker: 0, form: "or", parts: [{ person: 0, knight: false }, { person: 1, knight: false }] }, // prettier-ignore
    { speaker: 1, form: "is", parts: [{ person: 0, knight: false }] },
  ],
};

describe("puzzles of knights and knaves", () => {
  it("tells a puzzle and reads it back, in every form", () => {
    const [a, b] = [
      { person: 1, knight: true },
      { person: 0, knight: false },
    ];
    for (const form of FORM_NAMES) {
      const parts = partsOf(form) === 1 ? [a] : [a, b];
      const statements = [0, 1].map((speaker) => ({ speaker, form, parts }));
      const puzzle = { names: ["Abe", "Bea"], statements };
      expect(readPuzzle(puzzleText(puzzle))).toEqual(puzzle);
    }
    expect(puzzleText(TWO)).toBe(
      "Abe says that Abe is a knave or Bea is a knave. Bea says that Abe is a knave. Who is a knight and who is a knave?",
    );
  });

  it("reads no other text as a puzzle", () => {
    expect(readPuzzle("Who is the mayor of Oslo?")).toBeNull();
    expect(readPuzzle("Abe says that Abe is tall.")).toBeNull();
    expect(readPuzzle("Abe says that Bea is a knave.")).toBeNull();
  });

  it("finds every solution by trying all", () => {
    expect(solutionsOf(TWO)).toEqual([[true, false]]);
    const [, second] = TWO.statements;
    // Each calls the other a knave: either may be the knight.
    const statements = second === undefined ? [] : [{ ...second, speaker: 0, parts: [{ person: 1, knight: false }] }, second]; // prettier-ignore
    expect(solutionsOf({ names: TWO.names, statements })).toHaveLength(2);
  });

  it("solves it person by person in order, each from what they say and those before", () => {
    const [first, second] = TWO.statements;
    expect(deduction(TWO)).toEqual([
      { person: 0, knight: true, statement: first, from: [] },
      { person: 1, knight: false, statement: second, from: [0] },
    ]);
  });

  it("leaves a speaker open whom what they say does not settle", () => {
    const [first, second] = TWO.statements;
    if (first === undefined || second === undefined) throw new Error("two statements");
    const circle = [{ ...second, speaker: 0, parts: [{ person: 1, knight: false }] }, second];
    expect(deduction({ names: TWO.names, statements: circle })).toBeNull();
    expect(forced(second, [undefined, undefined])).toBeNull();
    expect(forced(second, [true, undefined])).toBe(false);
    expect(forced(first, [undefined, undefined])).toBe(true);
    // What is known contradicts it.
    expect(forced(first, [false, undefined])).toBeNull();
  });
});
