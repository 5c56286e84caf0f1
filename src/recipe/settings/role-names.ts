import { suggest } from "../../base/nearest.ts";
import { declarationsIn, type z } from "../../base/schema.ts";

/** An option that names a model which the recipe does not have. */
interface UnknownRole {
  path: string[];
  message: string;
}

interface WithModels {
  models?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The options declared by `roleName()` whose value is neither `policy` nor a name in `models`.
 * @param settings checked by the schema.
 */
export function unknownRoles(
  schema: z.ZodType,
  settings: WithModels & {
    evaluation?: { sets?: Readonly<Record<string, WithModels>> | undefined };
  },
): UnknownRole[] {
  return [...declarationsIn(schema, settings)].flatMap(({ path, value: name, meta }) => {
    if (meta["names"] !== "role" || typeof name !== "string") return [];
    const [evaluation, sets, set = ""] = path;
    const isOfSet = evaluation === "evaluation" && sets === "sets";
    const own = isOfSet ? settings.evaluation?.sets?.[set]?.models : undefined;
    const known = ["policy", ...Object.keys(own ?? settings.models ?? {})];
    if (known.includes(name)) return [];
    return {
      path,
      message: `is "${name}"; no such model. ${suggest(name, known)} Add it to models.`,
    };
  });
}
