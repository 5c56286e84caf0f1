import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { loadRecipe, shippedRecipes } from "../../src/run/settings/recipe-file.ts";

/** Rows of the table: [paper, recipe, …]. */
const rows = readFileSync(join(packageRoot, "docs", "papers.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split(" | "));

const recipes = await Promise.all(
  shippedRecipes().map(async (name) => ({ name, paper: (await loadRecipe(name)).paper })),
);
const papers = recipes.flatMap(({ name, paper }) =>
  paper === undefined ? [] : [{ name, id: paper.id, title: paper.title }],
);

describe("docs/papers.md", () => {
  it.each(papers)("has a row for the paper of recipe $name, by its number", ({ name, id }) => {
    const own = rows.filter(([paper, recipe]) => paper?.includes(id) && recipe === `\`${name}\``);
    expect(own).toHaveLength(1);
  });

  it("has instruments after papers", () => {
    const places = papers.map(({ name }) =>
      rows.findIndex(([, recipe]) => recipe === `\`${name}\``),
    );
    const instrument = rows.findIndex(([, recipe]) => recipe === "`instrument`");
    expect(instrument).toBeGreaterThan(Math.max(...places));
  });
});

it("recipes give each paper one number", () => {
  const ids = new Map<string, Set<string>>();
  for (const { title, id } of papers) ids.set(title, (ids.get(title) ?? new Set()).add(id));
  expect([...ids].filter(([, own]) => own.size > 1)).toEqual([]);
});
