import { leavesOf } from "../../base/leaves.ts";
import { type Settings, settingsSchema } from "../settings/settings-schema.ts";
import {
  type Override,
  type ResolvedSettings,
  isOfRecipe,
  withOverrides,
} from "../settings/settings.ts";
import type { Stage } from "../settings/stages.ts";

/** Where a finished stage is. */
interface StageFolder {
  name: string;
  folder: string;
}

/** Whether the recipe file has written the stages, rather than a flag. */
function hasRecipeStages(resolved: ResolvedSettings<Settings>): boolean {
  return [...resolved.origins].every(
    ([key, origin]) =>
      !key.startsWith("stages.") || origin === "default" || isOfRecipe(resolved, origin),
  );
}

/**
 * A stage's `set`. A text with `{name}`, the folder of the latest stage of that name, starts from the run's folder; other paths start from
 * the recipe's.
 */
export function ownOverrides(
  resolved: ResolvedSettings<Settings>,
  stage: Stage,
  done: readonly StageFolder[],
): Override[] {
  const origin = stageOrigin(stage);
  const isOfRecipe = hasRecipeStages(resolved);
  return Object.entries(stage.set).flatMap(([key, value]) => {
    const inFolders = [...leavesOf(value)].flatMap(([keys, leaf]): Override[] => {
      const text = typeof leaf === "string" ? withFolders(leaf, done) : leaf;
      if (text === leaf) return [];
      return [
        { key: [key, ...keys].join("."), value: text, origin: `${origin}: ${leaf as string}` },
      ];
    });
    return [{ key, value, origin, isOfRecipe }, ...inFolders];
  });
}

/** The settings of a stage, before any has run. */
export function atStage(
  resolved: ResolvedSettings<Settings>,
  stage: Stage,
): Promise<ResolvedSettings<Settings>> {
  return withOverrides(settingsSchema, resolved, ownOverrides(resolved, stage, []));
}

/** How messages call a stage. */
export function stageOrigin({ number, name }: Stage): string {
  return `stage ${number} (${name})`;
}

/** Braces around anything but the name of a finished stage stay. */
function withFolders(text: string, done: readonly StageFolder[]): string {
  return text.replace(/\{([a-z][a-z0-9-]*)\}/g, (whole, name: string) => {
    return done.findLast((each) => each.name === name)?.folder ?? whole;
  });
}
