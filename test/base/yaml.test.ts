import { describe, expect, it } from "vitest";
import { quote } from "../../src/base/schema.ts";
import { parseYaml, parseYamlValue } from "../../src/base/yaml.ts";
import { errorWith } from "../helpers/error-with.ts";

const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
for (const [i, name] of Array.from("bcdefghij").entries()) {
  const before = "abcdefghi"[i]!;
  bomb.push(`${name}: &${name} [${`*${before}, `.repeat(8)}*${before}]`);
}

describe("YAML", () => {
  it.each([
    ["aliases that multiply", bomb.join("\n"), "r.yaml:2: "],
    ["a value that contains itself", "summary: &a\n  x: *a", "r.yaml:2: "],
    ["a list that contains itself", "x: 1\ny: &a [*a]", "r.yaml:2: "],
    ["lists in lists in lists", `a: ${"[".repeat(20_000)}`, "more than 50 deep"],
    ["closed lists in lists", `a: ${"[".repeat(60)}${"]".repeat(60)}`, "more than 50 deep"],
    ["a list of very many values", `a: [${"1,".repeat(20_001)}]`, "more than 20000 values"],
    ["a very long text", `a: ${"x".repeat(2 ** 18)}`, "characters"],
    ["a tag", "x: 1\ny: !env HOME", "r.yaml:2: is not YAML (Unresolved tag: !env)"],
    ["a prototype", "x: {__proto__: {y: 1}}", "__proto__ cannot be a key"],
    ["a list as a key", "x: 1\n? [a]\n: 2", "r.yaml:2: "],
    ["a key twice", "x: 1\nx: 2", "r.yaml:2: "],
    ["two documents", "x: 1\n---\nx: 2", "r.yaml:"],
    ["an alias of nothing", "x: *y", "r.yaml:1: "],
  ])("refuses %s, with the line", (_, text, message) => {
    expect(() => parseYaml(text, "r.yaml")).toThrow(errorWith("RECIPE_NOT_YAML", message));
    expect(() => parseYamlValue(text, "--set x")).toThrow(
      errorWith("RECIPE_NOT_YAML", "--set x: is not YAML"),
    );
  });

  it("reads an alias that repeats a value", () => {
    const yaml = parseYaml("a: &a [1, two]\nb: *a", "r.yaml");
    expect(yaml.value).toEqual({ a: [1, "two"], b: [1, "two"] });
    expect(yaml.lineOf(["b"])).toBe(2);
  });
});

it("quotes what JSON cannot write", () => {
  const self: unknown[] = [];
  self.push(self);
  expect([NaN, -Infinity, 3n].map(quote)).toEqual(["NaN", "-Infinity", "3"]);
  expect(quote(self)).toBe("");
  expect(quote(Symbol("s"))).toBe("Symbol(s)");
});
