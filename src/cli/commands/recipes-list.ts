import type { Command } from "commander";
import { renderText } from "../../base/table.ts";
import { loadRecipe, shippedRecipes, tiersOf } from "../../run/settings/recipe-file.ts";
import type { CliContext } from "../command.ts";
import { jsonOption } from "../options.ts";

/** Adds `agentrl recipes list`. */
export function addRecipesList(recipes: Command, context: CliContext): void {
  recipes
    .command("list")
    .description("List the recipes that come with the package.")
    .addOption(jsonOption())
    .action(async ({ json }: { json?: true }) => {
      const all = await Promise.all(shippedRecipes().map((name) => loadRecipe(name)));
      const rows = all.map((recipe) => ({
        name: recipe.name,
        summary: recipe.summary,
        family: recipe.family ?? null,
        paper: recipe.paper?.id ?? null,
        tiers: tiersOf(recipe),
        claims: recipe.claims.tests.map(({ id }) => id),
      }));
      if (json === true) context.out(JSON.stringify({ recipes: rows }));
      else {
        const listed = rows.map(({ name, family, paper, summary }) => [
          ...[name, paper ?? family ?? "", summary],
        ]);
        context.out(renderText({ rows: listed }));
      }
    });
}
