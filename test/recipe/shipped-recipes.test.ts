import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadRecipe, shippedRecipes, tiersOf } from "../../src/recipe/settings/recipe-file.ts";
import { settingsSchema } from "../../src/recipe/settings/settings-schema.ts";
import {
  armOverrides,
  checkSettings,
  resolveSettings,
} from "../../src/recipe/settings/settings.ts";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const recipes = await Promise.all(shippedRecipes().map(loadRecipe));
const tiers = recipes.flatMap((recipe) => tiersOf(recipe).map((tier) => ({ recipe, tier })));

describe("a shipped recipe", () => {
  it.each(tiers.map(({ recipe, tier }) => [recipe.name, tier, recipe] as const))(
    "%s has settings that hold at the tier %s, and so has every arm of its claims",
    (_, tier, recipe) => {
      const arms = recipe.claims.flatMap((claim) =>
        claim.arms.map(({ name }) => armOverrides(claim, name)),
      );
      for (const overrides of [[], ...arms]) {
        const resolved = resolveSettings(recipe, { tier, overrides });
        expect(() => checkSettings(settingsSchema, resolved)).not.toThrow();
      }
    },
  );

  const staged = recipes.filter((recipe) => "stages" in recipe.base).map(({ name }) => name);
  it.each(staged)("%s goes through its stages at the smoke tier", (name) => {
    const out = join(folder, name);
    const flags = ["train", "--recipe", name, "--tier", "smoke", "--out", out, "--json"];
    const { status, stdout, stderr } = runCli(flags);
    expect(stderr).toContain("stage 1/");
    expect(status).toBe(0);
    const result = JSON.parse(stdout) as {
      stages: { do: string; facts: { steps?: number } }[];
      eval: Record<"before" | "after", { n: number }>;
    };
    expect(result.eval.after.n).toBe(result.eval.before.n);
    const learned = result.stages.filter(({ do: kind }) => kind !== "synth");
    for (const { facts } of learned) expect(facts.steps).toBeGreaterThan(0);
  });
});
