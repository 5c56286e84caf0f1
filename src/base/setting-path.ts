import { isAbsolute, join, relative, resolve } from "node:path";
import { declarationsIn, type z } from "./schema.ts";

/** Declares a setting as a path: in a recipe from the recipe's folder, in a flag from the current folder. */
export function isPath(): { path: "always" } {
  return { path: "always" };
}

/** Declares a setting as a model: a name, or a folder. Only a value that starts with ./ or ../ is a path from the recipe's folder. */
export function isModel(): { path: "model" } {
  return { path: "model" };
}

/** Settings with relative paths replaced. @param replace receives a path and its dotted key. */
function withPaths<T>(
  schema: z.ZodType,
  settings: T,
  replace: (path: string, key: string) => string,
): T {
  return withDeclared(schema, settings, (value, kind, key) => {
    if (isAbsolute(value)) return value;
    return kind === "model" && !/^\.\.?[/\\]/.test(value) ? value : replace(value, key);
  });
}

/** Settings with some of their models replaced. */
export function withModels<T>(
  schema: z.ZodType,
  settings: T,
  replace: (model: string) => string,
): T {
  return withDeclared(schema, settings, (value, kind) =>
    kind === "model" ? replace(value) : value,
  );
}

/** The models that settings name: of the policy, of roles, of a teacher. */
export function modelsIn(schema: z.ZodType, settings: unknown): string[] {
  const declared = [...declarationsIn(schema, settings)];
  return declared.flatMap(({ value, meta }) =>
    meta["path"] === "model" && typeof value === "string" ? [value] : [],
  );
}

function withDeclared<T>(
  schema: z.ZodType,
  settings: T,
  replace: (value: string, kind: unknown, key: string) => string,
): T {
  const changed = structuredClone(settings);
  for (const { path: keys, value, meta } of declarationsIn(schema, settings)) {
    const kind = meta["path"];
    if (kind === undefined || typeof value !== "string") continue;
    const holder = keys
      .slice(0, -1)
      .reduce<unknown>(
        (value, key) => (value as Record<string, unknown> | undefined)?.[key],
        changed,
      ) as Record<string, unknown>;
    holder[keys.at(-1) ?? ""] = replace(value, kind, keys.join("."));
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

/** All paths from a folder, as a recipe in it names the files. */
export function withPathsIn<T>(folder: string, schema: z.ZodType, settings: T): T {
  return withPaths(schema, settings, (path) => pathFrom(folder, path));
}

/** A path from a folder. It starts with ./ or ../, so that it is not taken for a name; on another drive it is absolute. */
export function pathFrom(folder: string, path: string): string {
  const found = relative(resolve(folder), resolve(path)).replaceAll("\\", "/");
  return isAbsolute(found) || found.startsWith("../") ? found : `./${found}`;
}
