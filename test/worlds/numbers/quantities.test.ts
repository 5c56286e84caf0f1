import { describe, expect, it } from "vitest";
import { type Move, chainRoutes, told } from "../../../src/worlds/numbers/chains.ts";
import { spellings, stepsOf } from "../../../src/worlds/numbers/quantities.ts";

describe("spellings", () => {
  it.each([
    [51, ["51"]],
    [1200, ["1200", "1,200", "1 200"]],
    [1234567, ["1234567", "1,234,567", "1 234 567"]],
    [7.5, ["7.5", "15/2", "7 1/2", "7.50"]],
    [0.25, ["0.25", "1/4"]],
    [2.75, ["2.75", "11/4", "2 3/4"]],
  ])("of %s", (value, expected) => {
    expect(spellings(value)).toEqual(expected);
  });
});

function move(operation: Move["operation"], value: number): Move {
  return { operation, by: told(value), value, question: "" };
}

const written = (start: number, ...moves: Move[]): string[] =>
  chainRoutes(told(start), moves).map((route) =>
    stepsOf(route)
      .map(({ expression, value }) => `${expression} = ${value}`)
      .join("; "),
  );

describe("chainRoutes", () => {
  it("merges neighbouring changes", () => {
    expect(written(20, move("-", 3), move("-", 4))).toEqual([
      "20 - 3 = 17; #1 - 4 = 13",
      "3 + 4 = 7; 20 - #1 = 13",
    ]);
    expect(written(20, move("+", 3), move("-", 9))[1]).toBe("9 - 3 = 6; 20 - #1 = 14");
    expect(written(5, move("*", 3), move("*", 2))[1]).toBe("3 * 2 = 6; 5 * #1 = 30");
  });

  it("distributes a product over a sum", () => {
    expect(written(8, move("-", 3), move("*", 5))).toEqual([
      "8 - 3 = 5; #1 * 5 = 25",
      "8 * 5 = 40; 3 * 5 = 15; #1 - #2 = 25",
    ]);
  });

  it("leaves what cannot be regrouped", () => {
    expect(written(12, move("/", 3), move("+", 5))).toEqual(["12 / 3 = 4; #1 + 5 = 9"]);
    expect(written(12, move("+", 3), move("from", 20))).toEqual(["12 + 3 = 15; 20 - #1 = 5"]);
    expect(written(12, move("+", 3), move("-", 3))).toHaveLength(1);
  });
});
