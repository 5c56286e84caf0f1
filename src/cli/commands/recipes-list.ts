import { ConfigError } from "../../base/errors.ts";
import { loadRecipe, shippedRecipes, tiersOf } from "../../run/settings/recipe-file.ts";
import { type RecipeHead, recipeHead } from "../../run/settings/recipe-head.ts";
import { defineCommand } from "../command.ts";
import { jsonFlag } from "../options.ts";

/** Adds `agentrl recipes list`. */
export const recipesList = defineCommand({
  name: "list",
  summary: "recipes that come with the package, by kind",
  description:
    "List the recipes that come with the package: papers, instruments of the claims, lessons and bases. With a text, only those whose name, paper or summary contains it.",
  args: [["[text]", "a part of a name, title or summary, or a paper's number, e.g. 2503.09516"]],
  options: { json: jsonFlag() },
  async run({ json }, context, text) {
    const heads = await Promise.all(shippedRecipes().map(recipeHead));
    const found = text === undefined ? heads : heads.filter((head) => contains(head, text));
    if (found.length === 0)
      throw new ConfigError(
        "RECIPE_MISSING",
        `no recipe has "${text}" in its name, paper or summary. agentrl recipes list shows them all.`,
      );
    if (json !== true) context.out(listText(found));
    else context.out(JSON.stringify({ recipes: await Promise.all(found.map(asJson)) }));
  },
});

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

/** Columns below which text is not wrapped: each line would hold a word or two. */
const NARROWEST = 20;

/**
 * A text after its label, wrapped at words; further lines are indented by the label's length.
 * @param width columns of the terminal; undefined: one line, for a pipe.
 * @example wrapText("one two", "a  ", 7) // "a  one\n   two"
 */
export function wrapText(text: string, label: string, width = Infinity): string {
  const room = Math.max(width - label.length, NARROWEST);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return label + [...lines, line].join(`\n${" ".repeat(label.length)}`);
}
