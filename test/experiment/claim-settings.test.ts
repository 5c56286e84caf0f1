import { describe, expect, it } from "vitest";
import { baseDifferences, claimsHash } from "../../src/experiment/claim-settings.ts";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";
import { parseSet } from "../../src/run/settings/settings.ts";
import "../helpers/all-parts.ts";

const TEXT = `summary: A base of its own.
base: { sampling: { temperature: 1 } }
tiers: { mini: {}, smoke: {} }
claims:
  base:
    mini:
      dataset: { name: tinyworld, people: 40 }
      evaluation.sets.far: { dataset: { people: 60 } }
  tests:
    - id: hot
      statement: Hot wins.
      metric: eval.after.em
      relation: hot > cold
      source: section 1
      arms: [{ name: hot }, { name: cold, set: { sampling.temperature: 0 } }]
`;
const recipe = parseRecipe(TEXT, "a.yaml");

describe("baseDifferences", () => {
  it("lists the settings that claims.base changes, and what it adds without its defaults", async () => {
    expect(await baseDifferences(recipe, "mini")).toEqual([
      { key: "dataset.people", train: 1000, claims: 40 },
      { key: "evaluation.sets.far.dataset.people", train: null, claims: 60 },
    ]);
    expect(await baseDifferences(recipe, "smoke")).toEqual([]);
  });
});

describe("claimsHash", () => {
  const changed = (from: string, to: string): string =>
    claimsHash(parseRecipe(TEXT.replace(from, to), "a.yaml"), "mini");
  const now = claimsHash(recipe, "mini");

  it("changes with the settings of an arm, a relation and what is laid over all arms", () => {
    expect(changed("people: 40", "people: 41")).not.toBe(now);
    expect(changed("temperature: 0 }", "temperature: 0.1 }")).not.toBe(now);
    expect(changed("hot > cold", "cold > hot")).not.toBe(now);
    expect(claimsHash(recipe, "mini", [parseSet("seed=4")])).not.toBe(now);
  });

  it("does not change with words and with how the same sums are divided", () => {
    expect(changed("Hot wins.", "Hot is better.")).toBe(now);
    expect(changed("summary: A base", "summary: The base")).toBe(now);
    expect(claimsHash(recipe, "mini", [parseSet("engine.workers=1")])).toBe(now);
  });
});
