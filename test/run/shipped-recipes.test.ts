import { describe, expect, it } from "vitest";
import { loadRecipe, shippedRecipes, tiersOf } from "../../src/run/settings/recipe-file.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { armOverrides, checkSettings, resolveSettings } from "../../src/run/settings/settings.ts";
import "../helpers/all-parts.ts";

const recipes = await Promise.all(shippedRecipes().map((name) => loadRecipe(name)));
const tiers = recipes.flatMap((recipe) => tiersOf(recipe).map((tier) => ({ recipe, tier })));

describe("a shipped recipe", () => {
  it.each(tiers.map(({ recipe, tier }) => [recipe.name, tier, recipe] as const))(
    "%s has settings that hold at the tier %s, and so has every arm of its claims",
    (_, tier, recipe) => {
      const arms = recipe.claims.tests.flatMap((claim) =>
        claim.arms.map((arm) => armOverrides(recipe, { tier, claim, arm })),
      );
      for (const overrides of [[], ...arms]) {
        const resolved = resolveSettings(recipe, { tier, overrides });
        expect(() => checkSettings(settingsSchema, resolved)).not.toThrow();
      }
    },
  );
});
