import { describe, expect, it } from "vitest";
import type { DatasetSetting } from "../../src/data/dataset.ts";
import { refusals } from "../../src/exports/rule.ts";
import { exportTargets } from "../../src/exports/targets.ts";
import { TRAINERS } from "../../src/exports/trainers.ts";
import { shippedRecipes } from "../../src/run/settings/recipe-file.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";

describe("trainers that recipes are exported to", () => {
  it("are those that the help names, with their releases", () => {
    expect(exportTargets.parts.map(({ name, version }) => [name, version])).toEqual(
      Object.entries(TRAINERS),
    );
  });

  it.each(exportTargets.parts)("$name has at most one translation of a key", ({ rules }) => {
    // A later rule replaces an earlier one, but never loses what it demands.
    for (const { from, allowed } of rules) {
      const last = rules.findLast((each) => each.from === from);
      if (allowed !== undefined) expect(last?.allowed, from).toBeDefined();
    }
  });

  it("name the order of questions as a difference, and the ratio of a mixture where there is one", async () => {
    const { settings } = await resolveRecipe("search-r1", { tier: "smoke" });
    const of = [{ name: "tinyworld" }, { name: "arithmetic" }];
    const told = (dataset: DatasetSetting): unknown[] =>
      exportTargets.parts.map(({ rules }) => {
        const { sampler } = settings.algorithm as unknown as { sampler: unknown };
        const found = rules.findLast(({ from }) => from === "algorithm.sampler");
        return found?.differs?.(sampler, { ...settings, dataset } as typeof settings, {} as never);
      });
    for (const each of told({ name: "joined", of })) expect(each).toMatch(/random order$/);
    for (const each of told({ name: "joined", of, weights: [1, 3] }))
      expect(each).toMatch(/not in the ratio of dataset.weights$/);
  });

  it("know every key of the shipped recipes, or refuse the part that it belongs to", async () => {
    const unknown: string[] = [];
    for (const name of shippedRecipes()) {
      const { settings, origins } = await resolveRecipe(name);
      for (const { name: trainer, rules } of exportTargets.parts)
        for (const { from, allowed } of refusals(settings, origins, rules))
          if (allowed.startsWith("nothing: the export has no"))
            unknown.push(`${trainer}: ${name}: ${from}`);
    }
    expect(unknown).toEqual([]);
  }, 300_000);
});
