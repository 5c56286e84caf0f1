import { loadRecipe, selectTier } from "./recipe-file.ts";
import { settingsSchema, type Settings } from "./settings-schema.ts";
import { loadSettings, type Override, type ResolvedSettings, resolveSettings } from "./settings.ts";

export interface ResolveRecipeOptions {
  /** "mini" when absent, or the smallest that the recipe has. */
  tier?: string | undefined;
  /** Settings over the recipe's own, later ones over earlier ones. */
  overrides?: readonly Override[];
  /** Plugins beside the recipe's own; paths start from the current folder. */
  plugins?: readonly string[];
}

/**
 * A recipe's settings at a tier, checked, with the origin of each value.
 *
 * @param nameOrPath a shipped recipe's name, or a path.
 * @throws {ConfigError} as `loadRecipe`, `loadPlugin`, `resolveSettings` and `checkSettings`.
 * @example await resolveRecipe("search-r1", { tier: "smoke", overrides: [{ key: "seed", value: 2, origin: "script" }] })
 */
export async function resolveRecipe(
  nameOrPath: string,
  { tier, overrides = [], plugins = [] }: ResolveRecipeOptions = {},
): Promise<ResolvedSettings<Settings>> {
  const recipe = await loadRecipe(nameOrPath, plugins);
  const resolved = resolveSettings(recipe, { tier: selectTier(recipe, tier), overrides });
  return loadSettings(settingsSchema, resolved);
}
