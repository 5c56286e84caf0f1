import { expect, it } from "vitest";
import { numbered, passagesIn, withNew } from "../../src/trajectory/passages.ts";

const text = "Doc 1(Title: A) first\nmore\nDoc 2(Title: B) second\n";
const found = passagesIn({ tool: "search", text, passageIds: ["a", "b"] });

it("takes an observation apart into passages with their ids", () => {
  expect(found).toEqual([
    { id: "a", text: "(Title: A) first\nmore" },
    { id: "b", text: "(Title: B) second" },
  ]);
  expect(passagesIn({ tool: "search", text: "a fact" })).toEqual([
    { id: "a fact", text: "a fact" },
  ]);
});

it("finds none where nothing was found", () => {
  const nothing = { tool: "search", text: "Nothing was found.", passageIds: [] };
  expect(passagesIn(nothing)).toEqual([]);
  const problem = { code: "empty-query", message: "" };
  expect(passagesIn({ tool: "search", text: "The query was empty.", problem })).toEqual([]);
});

it("adds what is new after what is known, up to a limit, and numbers it anew", () => {
  const c = { id: "c", text: "(Title: C) third" };
  const known = withNew([c], [...found, c]);
  expect(numbered(known)).toBe(
    "Doc 1(Title: C) third\nDoc 2(Title: A) first\nmore\nDoc 3(Title: B) second",
  );
  expect(withNew([c], found, 2)).toHaveLength(2);
});
