import { z } from "zod";
import { ConfigError } from "./errors.ts";
import { suggest } from "./nearest.ts";

/** The one door to the schema library: every part's `options` are written with it. */
export { z };

/**
 * Checks a value from a recipe, a flag or a file border against its schema.
 *
 * @param schema unknown keys are errors: objects are checked strictly (`z.strictObject`).
 * @param where names the place, for the message: `recipes/a.yaml: algorithm`.
 * @throws {ConfigError} RECIPE_UNKNOWN_KEY with the nearest key; RECIPE_BAD_VALUE with what was found and what is allowed.
 */
export function parseOptions<S extends z.ZodType>(
  schema: S,
  value: unknown,
  where: string,
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue === undefined) throw result.error;
  const path = [where, ...issue.path.map(String)].join(".");
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    throw new ConfigError(
      "RECIPE_UNKNOWN_KEY",
      `${path}: "${key}" is not a key here. ${suggest(key, knownKeys(schema, issue.path))}`,
    );
  }
  const found = valueAt(value, issue.path);
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${path} is ${found === undefined ? "missing" : JSON.stringify(found)}: ${issue.message}.`,
  );
}

function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = schema;
  for (const key of path) {
    at = unwrap(at);
    at = at instanceof z.ZodObject ? at.shape[String(key)] : undefined;
  }
  at = unwrap(at);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function unwrap(schema: unknown): unknown {
  let at = schema;
  while (
    at instanceof z.ZodOptional ||
    at instanceof z.ZodDefault ||
    at instanceof z.ZodPrefault ||
    at instanceof z.ZodNullable
  ) {
    at = at.unwrap();
  }
  return at;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}
