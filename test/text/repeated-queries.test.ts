import { describe, expect, it } from "vitest";
import { repeatedQueryShare } from "../../src/text/repeated-queries.ts";

describe("repeatedQueryShare", () => {
  it("is the share of queries whose words an earlier one had in the same order", () => {
    expect(repeatedQueryShare(["the seat", "Seat!", "Oslo"])).toBe(1 / 3);
    expect(repeatedQueryShare(["x", "x", "x", "x"])).toBe(3 / 4);
  });

  it("is 0 for one query and does not apply without any", () => {
    expect(repeatedQueryShare(["x"])).toBe(0);
    expect(repeatedQueryShare([])).toBeNull();
  });

  it("takes another notion of what a repetition is", () => {
    const sameLetter = (query: string, earlier: readonly string[]): boolean =>
      earlier.some((each) => each[0] === query[0]);
    expect(repeatedQueryShare(["oslo", "ogna", "bergen"], sameLetter)).toBe(1 / 3);
  });
});
