import { expect, it } from "vitest";
import { table } from "../../src/view/document.ts";
import { blockLines } from "../../src/view/terminal.ts";

const columns = ["", ...["first", "second", "third"].map((label) => ({ label, format: String }))];
const wide = { ...table("t", columns, [["a system", 1, 2, 3]]), inParts: true } as const;
const drawn = (width: number): string[] =>
  blockLines([wide], width).map((line) => line.map(({ text }) => text).join("").trimEnd()); // prettier-ignore

it("draws a table in parts that each begin with the first column where not all columns fit", () => {
  expect(drawn(40)).toEqual(["          first  second  third", "a system      1       2      3"]);
  expect(drawn(24)).toEqual([
    ...["          first  second", "a system      1       2"],
    "",
    ...["          third", "a system      3"],
  ]);
  // Not even one column fits: one in each part.
  expect(drawn(5).filter((line) => line === "")).toHaveLength(2);
});
