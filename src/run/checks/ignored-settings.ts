import { ConfigError } from "../../base/errors.ts";
import { valueAt } from "../../base/leaves.ts";
import { declarationsIn } from "../../base/schema.ts";
import { conditionMet, ignoredRules } from "../../base/setting-effect.ts";
import { type Settings, settingsSchema } from "../settings/settings-schema.ts";
import type { RecipeFile } from "../settings/recipe-schema.ts";
import { type ResolvedSettings, withBelow } from "../settings/settings.ts";

/** A setting without effect on a training. */
export interface IgnoredSetting {
  key: string;
  /** Where it was set. */
  origin: string;
  /** The settings that disable it: `algorithm.klCoef is 0`. */
  why: string;
  remedy: string;
}

/**
 * Settings of a training by rollouts that a user set and that have no effect, as their schemas declare (`ignoredWhen`). One that a later
 * layer disables (a tier or an arm of a claim over the recipe's base) is intended, and left out.
 */
export function ignoredSettings({
  recipe,
  settings,
  origins,
}: ResolvedSettings<Settings>): IgnoredSetting[] {
  const layerOf = (origin: string): number => layerIn(withBelow(recipe), origin);
  if (settings.algorithm === undefined) return [];
  return [...declarationsIn(settingsSchema, settings)].flatMap(({ path, meta }) => {
    for (const { conditions, remedy } of ignoredRules(meta)) {
      const met = Object.entries(conditions).map(([by, condition]) => {
        const keys = keysOf(settings, path, by);
        return { keys, words: conditionMet(condition, valueAt(settings, keys)) };
      });
      if (met.some(({ words }) => words === null)) continue;
      const decided = met.flatMap(({ keys }) => originsAt(origins, keys)).map(layerOf);
      const origin = originsAt(origins, path).find(
        (each) => each !== "default" && layerOf(each) >= Math.max(0, ...decided),
      );
      const why = met.map(({ keys, words }) => `${keys.join(".")} ${words ?? ""}`).join(" and ");
      if (origin !== undefined) return { key: path.join("."), origin, why, remedy };
    }
    return [];
  });
}

/** The key path that a condition means: beside the setting, or else from the top. */
function keysOf(settings: Settings, path: readonly string[], by: string): string[] {
  const keys = by.split(".");
  const beside = [...path.slice(0, -1), ...keys];
  return valueAt(settings, beside.slice(0, path.length)) === undefined ? keys : beside;
}

/** Where a key, and those below it, were set. */
function originsAt(origins: ReadonlyMap<string, string>, keys: readonly string[]): string[] {
  const key = keys.join(".");
  return [...origins].flatMap(([each, origin]) =>
    each === key || each.startsWith(`${key}.`) ? [origin] : [],
  );
}

/**
 * @throws {ConfigError} SETTING_IGNORED naming every setting of `ignoredSettings`, where there is one.
 */
export function requireHonoured(resolved: ResolvedSettings<Settings>): void {
  const ignored = ignoredSettings(resolved);
  if (ignored.length === 0) return;
  const lines = ignored.map(
    ({ key, origin, why, remedy }) => `${origin}: ${key} has no effect, because ${why}. ${remedy}.`,
  );
  throw new ConfigError("SETTING_IGNORED", `${lines.join("\n")} --allow-ignored trains anyway.`);
}

/**
 * default; then of each recipe, the one that is extended first, its base and its tier; then the bases of their claims, and whatever is laid
 * over that: flags, arms of claims, stages.
 */
function layerIn(recipes: readonly RecipeFile[], origin: string): number {
  if (origin === "default") return 0;
  const recipe = recipes.findLastIndex(({ path }) => origin.startsWith(`${path}:`));
  if (recipe < 0) return Infinity;
  if (/ \(claims, tier [^)]*\)$/.test(origin)) return 2 * recipes.length + recipe + 1;
  return 2 * recipe + (/ \(tier [^)]*\)$/.test(origin) ? 2 : 1);
}
