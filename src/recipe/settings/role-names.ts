import { suggest } from "../../base/nearest.ts";
import { schemasOfKey, unwrappedFor, type z } from "../../base/schema.ts";

/** An option that names a model which the recipe does not have. */
interface UnknownRole {
  path: string[];
  message: string;
}

/**
 * The options declared by `roleName()` whose value is neither `policy` nor a name in `models`.
 * @param settings checked by the schema.
 */
export function unknownRoles(
  schema: z.ZodType,
  settings: { models?: Readonly<Record<string, unknown>> | undefined },
): UnknownRole[] {
  const known = ["policy", ...Object.keys(settings.models ?? {})];
  return [...namedRoles(schema, settings, [])].flatMap(([path, name]) =>
    known.includes(name)
      ? []
      : [
          {
            path,
            message: `is "${name}"; no such model. ${suggest(name, known)} Add it to models.`,
          },
        ],
  );
}

function* namedRoles(
  schema: z.ZodType,
  value: unknown,
  path: string[],
): Generator<[path: string[], name: string]> {
  const layers = unwrappedFor(schema, value);
  if (typeof value === "string" && layers.some((each) => each.meta()?.["names"] === "role"))
    yield [path, value];
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value))
    for (const child of layers.flatMap((each) => schemasOfKey(each, key)))
      yield* namedRoles(child, item, [...path, key]);
}
