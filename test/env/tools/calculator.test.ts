import { describe, expect, it } from "vitest";
import { evaluated } from "../../../src/env/tools/calculator.ts";
import { callTool } from "../../helpers/search-world.ts";

describe("calculator", () => {
  it.each([
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["2 ^ 3 ^ 2", 512],
    ["-2 ^ 2", -4],
    ["2 * -3", -6],
    ["--4", 4],
    ["10 / 4 / 5", 0.5],
    [".5 + 1.25", 1.75],
    ["7", 7],
  ])("computes %s", (expression, value) => {
    expect(evaluated(expression)).toBe(value);
  });

  it.each(["", "2 +", "(1", "1)", "2 3", "x", "1 / 0", "9 ^ 9 ^ 9", ".", "1 ".repeat(2000)])(
    "says what is wrong with %j",
    (expression) => {
      expect(evaluated(expression)).toHaveProperty("problem");
    },
  );

  it("shows the value rounded, and gives it whole to rewards", async () => {
    const calculator = { name: "calculator", places: 2 };
    expect(await callTool(calculator, "1 / 3")).toEqual({
      tool: "calculator",
      text: "0.33",
      data: { value: 1 / 3 },
    });
    expect((await callTool(calculator, "0.1 + 0.2")).text).toBe("0.3");
    expect(await callTool(calculator, "1 / 0")).toMatchObject({
      problem: { code: "bad-expression", message: "division by zero" },
    });
  });
});
