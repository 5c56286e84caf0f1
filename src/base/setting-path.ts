import { isAbsolute, join, resolve } from "node:path";
import { schemasOfKey, unwrapped, unwrappedFor, type z } from "./schema.ts";
import { leavesOf } from "./leaves.ts";

/**
 * Declares a setting as the path of a file or folder. In a recipe it starts from the recipe's folder, in a flag from the current folder.
 * @param when "dotted": only a value that starts with ./ or ../ is a path, because another can be a name.
 * @example tasks: z.string().meta(isPath())
 */
export function isPath(when: "always" | "dotted" = "always"): { path: typeof when } {
  return { path: when };
}

/**
 * Settings with some of their paths replaced; other values, and absolute paths, stay.
 * @param replace receives a path and its dotted key.
 */
function withPaths<T>(
  schema: z.ZodType,
  settings: T,
  replace: (path: string, key: string) => string,
): T {
  const changed = structuredClone(settings);
  for (const [keys, value] of leavesOf(settings)) {
    if (typeof value !== "string" || isAbsolute(value)) continue;
    const declared = declaredPath(schema, settings, keys);
    if (declared === undefined || (declared === "dotted" && !/^\.\.?[/\\]/.test(value))) continue;
    const holder = keys.slice(0, -1).reduce<unknown>(childOf, changed) as Record<string, unknown>;
    holder[keys.at(-1) ?? ""] = replace(value, keys.join("."));
  }
  return changed;
}

/** Paths of a recipe from its folder. @param isOfRecipe whether the recipe itself sets a dotted key. */
export function pathsFrom<T>(
  folder: string,
  schema: z.ZodType,
  settings: T,
  isOfRecipe: (key: string) => boolean,
): T {
  return withPaths(schema, settings, (path, key) => (isOfRecipe(key) ? join(folder, path) : path));
}

/** All paths from the root: the same files from any folder. */
export function withAbsolutePaths<T>(schema: z.ZodType, settings: T): T {
  return withPaths(schema, settings, (path) => resolve(path));
}

/** What the schema that fits the settings declares for a key. */
function declaredPath(
  schema: z.ZodType,
  settings: unknown,
  keys: readonly string[],
): "always" | "dotted" | undefined {
  let level = [schema];
  let value = settings;
  for (const key of keys) {
    const here = value;
    level = level
      .flatMap((each) => unwrappedFor(each, here))
      .flatMap((each) => schemasOfKey(each, key));
    value = childOf(value, key);
  }
  for (const each of level.flatMap(unwrapped)) {
    const declared = each.meta()?.["path"];
    if (declared === "always" || declared === "dotted") return declared;
  }
  return undefined;
}

function childOf(value: unknown, key: string): unknown {
  return (value as Record<string, unknown> | undefined)?.[key];
}
