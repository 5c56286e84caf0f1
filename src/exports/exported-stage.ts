import { ConfigError } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import { atStage } from "../run/stages/stage-settings.ts";
import { type Stage, stageList } from "../run/settings/stages.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../run/settings/settings.ts";

/** One training of a recipe, as a recipe without stages. */
export interface ExportedStage {
  resolved: ResolvedSettings<Settings>;
  /** What agentrl would run before it, in order. */
  before: readonly Stage[];
}

/**
 * The training of a recipe with stages that another trainer takes over: the one that is named, else the last. A recipe without stages is
 * its own.
 * @throws {ConfigError} RECIPE_BAD_VALUE when there is no such training.
 */
export async function exportedStage(
  resolved: ResolvedSettings<Settings>,
  name?: string,
): Promise<ExportedStage> {
  const stages = stageList(resolved.settings.stages ?? []);
  const trainings = stages.filter((each) => each.do === "train");
  const stage =
    name === undefined ? trainings.at(-1) : trainings.findLast((each) => each.name === name);
  if (name !== undefined && stage === undefined) {
    const names = trainings.map((each) => each.name);
    const which = names.length === 0 ? "It has no stages." : suggest(name, names);
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `--stage is "${name}"; ${resolved.recipe.path} has no training stage of this name. ${which}`,
    );
  }
  if (stage === undefined) return { resolved, before: [] };
  const own = await atStage(resolved, stage);
  const { stages: _, ...settings } = own.settings;
  return { resolved: { ...own, settings }, before: stages.slice(0, stage.number - 1) };
}

/** What a user of the export must know of the stages before; null without any. */
export function stagesBefore({ before, resolved }: ExportedStage): string | null {
  if (before.length === 0) return null;
  const recipe = resolved.recipe.name;
  const names = before.map(({ name }) => name).join(", ");
  const trainings = before.filter((each) => each.do === "train").map(({ name }) => name);
  const exports = trainings.map((each) => `\`agentrl recipes export ${recipe} --stage ${each}\``);
  const how =
    exports.length === 0 ? "run them with agentrl" : `export them too (${exports.join(", ")})`;
  return `this is the training after ${names}: ${how}, and start it from the policy that they leave`;
}
