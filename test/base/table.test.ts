import { describe, expect, it } from "vitest";
import { fixed, formatBytes, signed } from "../../src/base/format.ts";
import { intervalColumn, renderMarkdown, renderText, type Table } from "../../src/base/table.ts";

const made: Table = {
  columns: [
    "metric",
    { label: "mean", format: fixed(3) },
    { label: "change", format: signed(2) },
    intervalColumn("95 % interval", fixed(3)),
    { label: "size", format: formatBytes },
  ],
  rows: [
    ["em", 0.5, -0.25, [0.4, 0.6], 1_500_000],
    ["searches | 東京", null, 0.001, null, 12],
    ["short", NaN],
  ],
};

describe("a table", () => {
  it("is text with numbers on the right, a dash where nothing was measured, and no trailing spaces", () => {
    expect(renderText(made, 2)).toMatchInlineSnapshot(`
      "  metric            mean  change  95 % interval    size
        em               0.500   −0.25  0.400 … 0.600  1.5 MB
        searches | 東京      –    0.00  –                12 B
        short                –"
    `);
  });

  it("is Markdown with the same cells", () => {
    expect(renderMarkdown(made)).toMatchInlineSnapshot(`
      "| metric | mean | change | 95 % interval | size |
      | :-- | --: | --: | :-- | --: |
      | em | 0.500 | −0.25 | 0.400 … 0.600 | 1.5 MB |
      | searches \\| 東京 | – | 0.00 | – | 12 B |
      | short | – |  |  |  |"
    `);
  });

  it("has no heading without labels, counts marks as no column, and is nothing without rows", () => {
    const rows = ["abcd", "e\u0301"].map((text) => [text, 1]);
    expect(renderText({ columns: ["", { label: "", format: fixed(1) }], rows })).toBe(
      "abcd  1.0\ne\u0301     1.0",
    );
    expect(renderText({ rows: [] })).toBe("");
  });
});
