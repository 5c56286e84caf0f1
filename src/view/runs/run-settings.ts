import { existsSync } from "node:fs";
import { join } from "node:path";
import { readText } from "../../base/files.ts";
import { leavesOf } from "../../base/leaves.ts";
import { parseYaml, yamlComments } from "../../base/yaml.ts";

/** A run's settings from its `recipe.resolved.yaml`. */
export interface RunSettings {
  /** Path of the recipe that started the run; null if not recorded. */
  recipe: string | null;
  tier: string | null;
  /** By dotted key. */
  values: ReadonlyMap<string, unknown>;
  /** Origin of each value: `default`, `recipes/a.yaml:12 (tier mini)`, `--set`, … */
  origins: ReadonlyMap<string, string>;
}

/** Settings from a run's folder; null without any. @throws {ConfigError} RECIPE_NOT_YAML */
export async function readRunSettings(folder: string): Promise<RunSettings | null> {
  const file = join(folder, "recipe.resolved.yaml");
  if (!existsSync(file)) return null;
  const text = await readText(file);
  const { base = {} } = (parseYaml(text, file).value ?? {}) as { base?: unknown };
  const { header, behind } = yamlComments(text);
  const [, recipe = null, tier = null] = /^Resolved from (.*), tier (\w+)\./.exec(header) ?? [];
  const values = new Map<string, unknown>();
  const origins = new Map<string, string>();
  for (const [keys, value] of leavesOf(base)) {
    const key = keys.join(".");
    values.set(key, value);
    const origin = behind.get(`base.${key}`);
    if (origin !== undefined) origins.set(key, origin);
  }
  return { recipe, tier, values, origins };
}

/** Metric of exact match while training: a recipe may rename the reward by `as`. */
export function exactMatchMetric(settings: RunSettings | null): string {
  const values = settings?.values ?? new Map<string, unknown>();
  const key = [...values.keys()].find(
    (each) => /^rewards\.\d+\.name$/.test(each) && values.get(each) === "exact-match",
  );
  const alias = values.get(key?.replace(/name$/, "as") ?? "");
  return `reward/${typeof alias === "string" ? alias : "exact-match"}`;
}

/** Whether this run overrides the recipe's value: by a flag, an arm of a claim, a stage. @example isOverride("--set") // true */
export function isOverride(origin: string): boolean {
  return origin !== "default" && !/:\d+( \(tier \w+\))?$/.test(origin);
}
