import { describe, expect, it } from "vitest";
import { suggest } from "../../src/base/nearest.ts";

describe("suggest", () => {
  it("names the nearest, and lists all of a few names", () => {
    expect(suggest("exact_mach", ["token-f1", "exact-match"])).toBe(
      'Did you mean "exact-match"? Known: token-f1, exact-match.',
    );
    expect(suggest("x", [])).toBe("There are none.");
  });

  it("lists the nearest twelve of more than a hundred names", () => {
    const known = Array.from({ length: 101 }, (_, i) => `eval.sets.set-${i}.after.em`);
    const said = suggest("eval.sets.set-7.after.me", known);
    expect(said).toMatch(
      /^Did you mean "eval\.sets\.set-7\.after\.em"\? The nearest of 101 known: /,
    );
    const [, names = ""] = said.split("known: ");
    expect(names.split(", ")).toHaveLength(12);
    expect(names).toMatch(/^eval\.sets\.set-7\.after\.em, /);
  });
});
