import { describe, expect, it } from "vitest";
import { table } from "../../src/cli/table.ts";

describe("table", () => {
  it("aligns columns under their titles and leaves no trailing spaces", () => {
    const rows = [
      ["em", "0.5", "of 500"],
      ["searches", "12.25", ""],
    ];
    const text = table(rows, { head: ["metric", "value"], align: ["left", "right"], indent: 2 });
    expect(text.split("\n")).toEqual([
      "  metric    value",
      "  em          0.5  of 500",
      "  searches  12.25",
    ]);
  });

  it("counts wide characters as two columns and marks as none", () => {
    expect(
      table([
        ["東京", "x"],
        ["abcd", "x"],
        ["e\u0301", "x"],
      ]),
    ).toBe("東京  x\nabcd  x\ne\u0301     x");
  });

  it("gives nothing for no rows", () => {
    expect(table([])).toBe("");
  });
});
