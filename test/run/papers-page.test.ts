import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { loadRecipe, shippedRecipes } from "../../src/run/settings/recipe-file.ts";

/** Rows of the table: [paper, where, recipes, what is different]. */
const rows = readFileSync(join(packageRoot, "docs", "papers.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split(" | "));

const recipes = await Promise.all(
  shippedRecipes().map(async (name) => ({ name, paper: (await loadRecipe(name)).paper })),
);
const papers = recipes.flatMap(({ name, paper }) =>
  paper === undefined ? [] : [{ name, id: paper.id }],
);

describe("docs/papers.md", () => {
  it.each(papers)("has a row for the paper of recipe $name, by its number", ({ name, id }) => {
    const own = rows.filter(
      ([paper, , recipes]) => paper?.includes(id) && recipes?.includes(`\`${name}\``),
    );
    expect(own).not.toEqual([]);
  });

  it("gives each paper one number", () => {
    const numbers = new Map<string, Set<string>>();
    for (const [paper = ""] of rows) {
      for (const [, title = "", id = ""] of paper.matchAll(/([^|;]+), arXiv (\d{4}\.\d{5})/g)) {
        numbers.set(title.trim(), (numbers.get(title.trim()) ?? new Set()).add(id));
      }
    }
    expect([...numbers].filter(([, ids]) => ids.size > 1)).toEqual([]);
    expect(numbers.get("StepSearch")).toEqual(new Set(["2505.15107"]));
  });
});
