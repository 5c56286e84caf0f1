import type { ResolvedSettings } from "./settings.ts";
import { withPathsIn } from "../../base/setting-path.ts";
import { writeYaml } from "../../base/yaml.ts";
import { settingsSchema } from "./settings-schema.ts";

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
  const { summary, paper, notes, plugins } = recipe;
  const content = {
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
