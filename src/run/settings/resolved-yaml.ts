import { join, resolve } from "node:path";
import { writeFileAtomic } from "../../base/files.ts";
import { RESOLVED_FILE } from "../folder/run-file.ts";
import type { ResolvedSettings } from "./settings.ts";
import type { Tier } from "./recipe-schema.ts";
import { withPathsIn } from "../../base/setting-path.ts";
import { writeYaml } from "../../base/yaml.ts";
import { settingsSchema } from "./settings-schema.ts";

/** A recipe at a tier, as a run's files and messages name it: all that travels with a run of how its settings were resolved. */
export interface RunRecord {
  /** Name of the recipe. */
  recipe: string;
  /** The recipe's file, for messages. */
  path: string;
  tier: Tier;
  /** Where a setting's value, or one below it, comes from; the recipe's file where that is not known. */
  originOf(key: string): string;
  /** Writes `recipe.resolved.yaml` into a folder, unless it is the very file that the settings were read from. */
  writeRecipe(folder: string): Promise<void>;
}

/** What a run records of resolved settings. */
export function recordOf(resolved: ResolvedSettings): RunRecord {
  const { recipe, tier, origins, overrides } = resolved;
  return {
    recipe: recipe.name,
    path: recipe.path,
    tier,
    originOf: (key) =>
      origins.get(key) ??
      [...origins].find(([each]) => each.startsWith(`${key}.`))?.[1] ??
      recipe.path,
    writeRecipe: async (folder) => {
      const file = join(folder, RESOLVED_FILE);
      if (overrides.length === 0 && resolve(recipe.path) === resolve(file)) return;
      await writeFileAtomic(file, toYaml(resolved, folder));
    },
  };
}

/**
 * A run's settings as a recipe of their own (`recipe.resolved.yaml`): every value spelt out, with its origin behind
 * it. Running this file at its one tier is the same run.
 *
 * @param folder where it will stand; its paths start from there.
 */
export function toYaml(
  { recipe, tier, settings, origins }: ResolvedSettings,
  folder: string,
): string {
  const { name, summary, paper, notes, plugins } = recipe;
  const content = {
    name,
    summary,
    paper,
    notes: notes.length === 0 ? undefined : notes,
    plugins: plugins.length === 0 ? undefined : plugins,
    base: withPathsIn(folder, settingsSchema, settings),
    tiers: { [tier]: {} },
  };
  const header = `Resolved from ${recipe.path}, tier ${tier}. Behind each value: where it comes from.`;
  return writeYaml(content, header, ([top, ...keys]) =>
    top === "base" ? origins.get(keys.join(".")) : undefined,
  );
}
