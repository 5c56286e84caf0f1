import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { readText } from "../../base/files.ts";
import { packageRoot } from "../../base/package-root.ts";
import { loadPlugin } from "../../base/plugins.ts";
import { checkOptions } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import { parseYaml } from "../../base/yaml.ts";
import { checkClaims, checkUnits } from "../claims.ts";
import { basesFolder, recipesIn, shippedBases } from "./base-names.ts";
import {
  type RecipeFile,
  TIERS,
  type Tier,
  extendingSchema,
  recipeSchema,
} from "./recipe-schema.ts";

const shippedFolder = join(packageRoot, "recipes");

/** Names of the shipped recipes, sorted: methods, then those that make bases. */
export function shippedRecipes(): string[] {
  return [...recipesIn(shippedFolder), ...shippedBases()];
}

/** A recipe's file, by the name of a shipped recipe or by its path. */
export function recipeFile(nameOrPath: string): string {
  if (isPath(nameOrPath)) return resolve(nameOrPath);
  const folder = shippedBases().includes(nameOrPath) ? basesFolder : shippedFolder;
  return join(folder, `${nameOrPath}.yaml`);
}

function isPath(nameOrPath: string): boolean {
  return /[/\\]|\.ya?ml$/.test(nameOrPath);
}

/** Where a recipe's results are kept: `results/<name>.json` beside it. */
export function keptResultsFile(nameOrPath: string): string {
  const file = recipeFile(nameOrPath);
  return join(dirname(file), "results", `${basename(file).replace(/\.ya?ml$/, "")}.json`);
}

/**
 * Reads a recipe, loads its plugins, and checks its structure: summary, paper, base, tiers, paper tables, claims. The recipe that it
 * extends is read as well.
 *
 * @param nameOrPath a shipped recipe's name, or a path (anything with a slash or ending in .yaml or .yml).
 * @param plugins further ones, loaded after its own; paths start from the current folder.
 * @returns its plugins as absolute paths, those of `plugins` included.
 * @throws {ConfigError} RECIPE_MISSING, RECIPE_NOT_YAML, RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE, each with file:line; as `loadPlugin`.
 */
export async function loadRecipe(
  nameOrPath: string,
  plugins: readonly string[] = [],
): Promise<RecipeFile> {
  const recipe = await readRecipe(nameOrPath, { where: "recipe", extending: [] });
  const files = new Set(recipe.plugins);
  for (const name of plugins) files.add((await loadPlugin(name, process.cwd(), "--plugin")).file);
  return { ...recipe, plugins: [...files] };
}

/** @param from.where what names the recipe; `from.extending`: the files that extend it, directly or not. */
async function readRecipe(
  nameOrPath: string,
  { where, extending }: { where: string; extending: readonly string[] },
): Promise<RecipeFile> {
  const file = recipeFile(nameOrPath);
  if (!existsSync(file)) {
    throw new ConfigError(
      "RECIPE_MISSING",
      isPath(nameOrPath)
        ? `${where} ${nameOrPath}: there is no such file.`
        : `${where} is "${nameOrPath}"; no such recipe. ${suggest(nameOrPath, shippedRecipes())} A file is named by its path: ./${nameOrPath}.yaml.`,
    );
  }
  const recipe = parseRecipe(
    await readText(file),
    isPath(nameOrPath) ? nameOrPath : relative(packageRoot, file),
  );
  await checkUnits(recipe);
  const below = await extendedRecipe(recipe, [...extending, file]);
  if (below !== null && recipe.tiers === INHERITED) {
    recipe.tiers = Object.fromEntries(tiersOf(below).map((tier) => [tier, {}]));
    checkClaims(recipe);
  }
  const files = new Set(below?.plugins);
  for (const [i, name] of recipe.plugins.entries()) {
    const place = `${recipe.place(["plugins", String(i)])}: plugins[${i}]`;
    files.add((await loadPlugin(name, dirname(file), place)).file);
  }
  return { ...recipe, below, plugins: [...files] };
}

/** The recipe that another extends. @param files the other's own and those that extend it. */
async function extendedRecipe(
  recipe: RecipeFile,
  files: readonly string[],
): Promise<RecipeFile | null> {
  const { extends: name } = recipe;
  if (name === undefined) return null;
  const where = `${recipe.place(["extends"])}: extends`;
  // The path in `recipe` is for messages: that of a shipped recipe starts from the package.
  const folder = dirname(files.at(-1) ?? recipe.path);
  const named = isPath(name) ? resolve(folder, name) : name;
  if (files.includes(recipeFile(named))) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${where} is "${name}", so the recipe extends itself: ${[...files, recipeFile(named)].map((file) => basename(file)).join(" → ")}.`,
    );
  }
  return readRecipe(named, { where, extending: files });
}

/** Stands for the tiers of the recipe that another extends, until that one is read. */
const INHERITED = { smoke: {}, mini: {}, paper: {} };

/** As `loadRecipe`, for text that is at hand. `path` names it in messages and gives the recipe its name. */
export function parseRecipe(text: string, path: string): RecipeFile {
  const yaml = parseYaml(text, path);
  const place = (keys: readonly string[]): string => `${path}:${yaml.lineOf(keys)}`;
  const extending =
    typeof yaml.value === "object" && yaml.value !== null && "extends" in yaml.value;
  const result = checkOptions(extending ? extendingSchema : recipeSchema, yaml.value);
  if (result.problem !== null) {
    const { code, path: keys, message } = result.problem;
    const what = keys.length === 0 ? "the recipe" : keys.join(".");
    throw new ConfigError(code, `${place(keys)}: ${what} ${message}`);
  }
  const recipe: RecipeFile = {
    path,
    place,
    below: null,
    ...result.value,
    name: result.value.name ?? basename(path).replace(/\.ya?ml$/, ""),
    tiers: result.value.tiers ?? INHERITED,
  };
  checkClaims(recipe);
  return recipe;
}

/** The tiers that a recipe has, smallest first. */
export function tiersOf(recipe: RecipeFile): Tier[] {
  return TIERS.filter((tier) => recipe.tiers[tier] !== undefined);
}

/**
 * The tier to run: the one asked for, else "mini", else the smallest there is.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no such tier.
 */
export function selectTier(recipe: RecipeFile, asked: string | undefined): Tier {
  const tiers = tiersOf(recipe);
  const tier =
    tiers.find((name) => name === (asked ?? "mini")) ??
    (asked === undefined ? tiers[0] : undefined);
  if (tier === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.place(["tiers"])}: --tier is ${JSON.stringify(asked)}; this recipe has no such tier. ${suggest(asked ?? "", tiers)}`,
    );
  }
  return tier;
}
