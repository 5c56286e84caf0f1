import type { Command } from "commander";
import { ConfigError } from "../../base/errors.ts";
import { wrapText } from "../wrap-text.ts";
import { loadRecipe, shippedRecipes, tiersOf } from "../../run/settings/recipe-file.ts";
import { type RecipeHead, recipeHead } from "../../run/settings/recipe-head.ts";
import type { CliContext } from "../command.ts";
import { jsonOption } from "../options.ts";

/** Adds `agentrl recipes list`. */
export function addRecipesList(recipes: Command, context: CliContext): void {
  recipes
    .command("list")
    .summary("recipes that come with the package, by kind")
    .description(
      "List the recipes that come with the package: papers, instruments of the claims, lessons and bases. With a text, only those whose name, paper or summary contains it.",
    )
    .argument("[text]", "a part of a name, title or summary, or a paper's number, e.g. 2503.09516")
    .addOption(jsonOption())
    .action(async (text: string | undefined, { json }: { json?: true }) => {
      const heads = await Promise.all(shippedRecipes().map(recipeHead));
      const found = text === undefined ? heads : heads.filter((head) => contains(head, text));
      if (found.length === 0) {
        throw new ConfigError(
          "RECIPE_MISSING",
          `no recipe has "${text}" in its name, paper or summary. agentrl recipes list shows them all.`,
        );
      }
      if (json !== true) context.out(listText(found));
      else context.out(JSON.stringify({ recipes: await Promise.all(found.map(asJson)) }));
    });
}

function contains({ name, summary, family, paper }: RecipeHead, text: string): boolean {
  return [name, summary, family, paper?.id, paper?.title].some(
    (each) => each?.toLowerCase().includes(text.toLowerCase()) === true,
  );
}

async function asJson({ name, summary, family, paper }: RecipeHead): Promise<object> {
  const recipe = await loadRecipe(name);
  const claims = recipe.claims.tests.map(({ id }) => id);
  return {
    name,
    summary,
    family: family ?? null,
    paper: paper?.id ?? null,
    tiers: tiersOf(recipe),
    claims,
  };
}

/** The headings in order, and what stands under each. */
const HEADINGS: readonly [string, (head: RecipeHead) => boolean][] = [
  ["Papers", ({ paper }) => paper !== undefined],
  ["Instruments", ({ family }) => family === "instrument"],
  ["Bases", ({ isBase }) => isBase],
  ["Lessons and policies", () => true],
];

function listText(heads: readonly RecipeHead[]): string {
  const names = Math.max(...heads.map(({ name }) => name.length));
  const papers = Math.max(...heads.map(({ paper }) => paper?.id.length ?? 0));
  const left = new Set(heads);
  const sections = HEADINGS.flatMap(([heading, fits]) => {
    const under = [...left].filter(fits);
    under.forEach((head) => left.delete(head));
    if (under.length === 0) return [];
    const rows = under.map(({ name, summary, paper }) => {
      const id = heading === "Papers" ? `${(paper?.id ?? "").padEnd(papers)}  ` : "";
      return wrapText(summary, `  ${name.padEnd(names)}  ${id}`, process.stdout.columns);
    });
    return [[heading, ...rows].join("\n")];
  });
  return sections.join("\n\n");
}
