import { AgentrlError, ConfigError } from "../../base/errors.ts";
import { checkClaimMetrics } from "../../experiment/measured-runs.ts";
import { claimsAt, experiments } from "../../run/claims.ts";
import { loadRecipe, shippedRecipes, tiersOf } from "../../run/settings/recipe-file.ts";
import type { RecipeFile } from "../../run/settings/recipe-schema.ts";
import { settingsSchema } from "../../run/settings/settings-schema.ts";
import { armOverrides, loadSettings, resolveSettings } from "../../run/settings/settings.ts";
import { defineCommand } from "../command.ts";
import { jsonFlag, pluginFlag } from "../options.ts";

/** Adds `agentrl recipes check`. */
export const recipesCheck = defineCommand({
  name: "check",
  description: "Check recipes: their structure, every tier, every arm of every claim.",
  args: [["[recipes...]", "names or paths; all shipped recipes when none is given"]],
  options: {
    all: ["", "all shipped recipes, beside those that are named"],
    plugin: pluginFlag(),
    json: jsonFlag(),
  },
  async run({ all, plugin, json }, context, given) {
    const isAll = all === true || given.length === 0;
    const names = [...new Set([...(isAll ? shippedRecipes() : []), ...given])];
    const problems: AgentrlError[] = [];
    for (const name of names) {
      try {
        await checkRecipe(await loadRecipe(name, plugin));
      } catch (error) {
        if (!(error instanceof AgentrlError)) throw error;
        problems.push(error);
      }
    }
    if (json === true) {
      const found = problems.map(({ code, message }) => ({ code, message }));
      context.out(JSON.stringify({ checked: names.length, problems: found }));
    } else if (problems.length === 0) {
      context.out(
        `${names.length} ${names.length === 1 ? "recipe" : "recipes"} checked, no problem.`,
      );
    }
    const [first] = problems;
    if (first === undefined) return;
    throw new ConfigError(first.code, problems.map(({ message }) => message).join("\n"));
  },
});

/** @throws {ConfigError} the first problem of any tier or arm. */
async function checkRecipe(recipe: RecipeFile): Promise<void> {
  const { requireTrainable } = await import("../../run/checks/require-trainable.ts");
  const { requirePaper } = await import("../../run/checks/paper-tier.ts");
  for (const tier of tiersOf(recipe)) {
    const own = await loadSettings(settingsSchema, resolveSettings(recipe, { tier }));
    await requireTrainable(own);
    // Another's paper is no matter of a recipe that extends its recipe, until it is run.
    if (recipe.paper !== undefined) await requirePaper(own);
    const claimed = claimsAt(recipe, tier);
    for (const claim of experiments(claimed)) {
      for (const arm of claim.arms) {
        const overrides = armOverrides(recipe, { tier, claim, arm });
        const resolved = resolveSettings(recipe, { tier, overrides });
        const { settings } = await loadSettings(settingsSchema, resolved);
        checkClaimMetrics(claimed, { claim, arm: arm.name }, settings);
      }
    }
  }
}
