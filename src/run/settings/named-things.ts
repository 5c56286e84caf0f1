import { declarationsIn, type z } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";

/** An option that names something which the recipe does not have. */
interface UnknownName {
  path: string[];
  message: string;
}

interface WithModels {
  models?: Readonly<Record<string, unknown>> | undefined;
}

interface Naming extends WithModels {
  evaluation?: { sets?: Readonly<Record<string, WithModels>> | undefined };
  rewards?: readonly { name: string; as?: string | undefined; weight?: unknown }[];
  reward?: string | undefined;
}

/**
 * The options that name a model or a reward which the recipe does not have. A model is `policy` or a name in `models` (`roleName()`); a reward is one
 * with a share of its own in the sum, which beside an expression needs a weight.
 * @param settings checked by the schema.
 */
export function unknownNames(schema: z.ZodType, settings: Naming): UnknownName[] {
  return [...declarationsIn(schema, settings)].flatMap(({ path, value: name, meta }) => {
    const check = CHECKS[String(meta["names"])];
    if (check === undefined || typeof name !== "string") return [];
    const message = check(name, settings, path);
    return message === null ? [] : { path, message };
  });
}

/** What is wrong with a name, by what the option declares that it names. */
const CHECKS: Readonly<
  Record<string, (name: string, settings: Naming, path: readonly string[]) => string | null>
> = { role: unknownRole, reward: unknownReward };

function unknownRole(name: string, settings: Naming, path: readonly string[]): string | null {
  const [evaluation, sets, set = ""] = path;
  const isOfSet = evaluation === "evaluation" && sets === "sets";
  const own = isOfSet ? settings.evaluation?.sets?.[set]?.models : undefined;
  const known = ["policy", ...Object.keys(own ?? settings.models ?? {})];
  if (known.includes(name)) return null;
  return `is "${name}"; no such model. ${suggest(name, known)} Add it to models.`;
}

function unknownReward(name: string, { rewards = [], reward }: Naming): string | null {
  const known = rewards.map(({ name: own, as = own }) => as);
  if (!known.includes(name)) return `is "${name}"; no such reward. ${suggest(name, known)}`;
  const isWeighted = rewards.some(
    ({ name: own, as = own, weight }) => as === name && weight !== undefined,
  );
  if (reward === undefined || isWeighted) return null;
  return `is "${name}", which has no share of its own beside the expression in reward. Give it a weight.`;
}
