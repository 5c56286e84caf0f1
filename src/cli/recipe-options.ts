import type { Settings } from "../run/settings/settings-schema.ts";
import { type Override, parseSet, type ResolvedSettings } from "../run/settings/settings.ts";
import {
  deviceFlag,
  type Flags,
  jsonFlag,
  options,
  outFlag,
  pluginFlag,
  seedFlag,
  setFlag,
  tierFlag,
} from "./options.ts";
import { usage } from "./usage.ts";

/** The argument of every command that runs a recipe. */
export const RECIPE = [
  "[recipe]",
  "name of a recipe of the package, or path of a YAML file, e.g. search-r1",
] as const;

/** Options of every command that runs a recipe. @param out describes --out. */
export function recipeOptions(out: string) {
  return options({
    recipe: ["<name>", "the recipe; the same as the argument"],
    tier: tierFlag(),
    device: deviceFlag(),
    seed: seedFlag(),
    set: setFlag(),
    plugin: pluginFlag(),
    out: outFlag(out),
    json: jsonFlag(),
  });
}

export type RecipeFlags = Flags<ReturnType<typeof recipeOptions>>;

/** The recipe that an argument or --recipe names. @throws {ConfigError} USAGE for none, or for two that differ. */
export function requiredRecipe(argument: string | undefined, flag: string | undefined): string {
  const recipe = argument ?? flag;
  if (recipe === undefined)
    throw usage(
      "No recipe is given. Name one, e.g. search-r1; `agentrl recipes list` shows those of the package.",
    );
  if (flag === undefined || flag === recipe) return recipe;
  throw usage(`Two recipes are given: ${recipe} and --recipe ${flag}. Leave one out.`);
}

/** The override of a flag; undefined: the flag was not given. */
export type FlagValue = [key: string, value: unknown, flag: string];

/** The overrides of flags. */
export function overridesOf(values: readonly FlagValue[]): Override[] {
  return values.flatMap(([key, value, origin]) =>
    value === undefined ? [] : [{ key, value, origin }],
  );
}

/**
 * A recipe's settings with `--set`, `--seed` and `--device` on top.
 * @param more settings of the command's own flags, which win over `--set`.
 * @param assumed settings that follow from these flags; `--set` wins over them.
 * @throws {ConfigError} as resolveRecipe.
 */
export async function settingsOf(
  flags: Pick<RecipeFlags, "tier" | "device" | "seed" | "set" | "plugin"> & { recipe: string },
  more: readonly Override[] = [],
  assumed: readonly Override[] = [],
): Promise<ResolvedSettings<Settings>> {
  const { recipe, tier, seed, device, set = [], plugin = [] } = flags;
  const own = overridesOf([
    ["seed", seed, "--seed"],
    ["engine.device", device, "--device"],
  ]);
  const overrides = [...assumed, ...set.map(parseSet), ...own, ...more];
  // Its schema names every part: loaded when a recipe is run, not for --help.
  const { resolveRecipe } = await import("../run/settings/resolve-recipe.ts");
  return resolveRecipe(recipe, { tier, overrides, plugins: plugin });
}

/** `runs/<recipe>-<tier>-seed<N>`: the run folder when --out names none. */
export function defaultRunFolder({ recipe, tier, settings }: ResolvedSettings<Settings>): string {
  return `runs/${recipe.name}-${tier}-seed${settings.seed}`;
}
