import { declarationsIn, type z } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import { tools } from "../../env/tools/index.ts";

/** An option that names something which the recipe does not have. */
interface UnknownName {
  path: string[];
  message: string;
}

interface WithModels {
  models?: Readonly<Record<string, unknown>> | undefined;
}

interface WithEnvironment {
  environment?: object | undefined;
}

interface Naming extends WithModels, WithEnvironment {
  evaluation?: { sets?: Readonly<Record<string, WithModels & WithEnvironment>> | undefined };
  rewards?: readonly { name: string; as?: string | undefined; weight?: unknown }[];
  reward?: string | undefined;
}

/**
 * The options that name a model, a reward or a tool which the recipe does not have. A model is `policy` or a name in `models` (`roleName()`); a reward is one
 * with a share of its own in the sum, which beside an expression needs a weight; a tool is one of the environment, by the name that the policy calls.
 * An option that is an object names them by its keys.
 * @param settings checked by the schema.
 */
export function unknownNames(schema: z.ZodType, settings: Naming): UnknownName[] {
  return [...declarationsIn(schema, settings)].flatMap(({ path, value: name, meta }) => {
    const check = CHECKS[String(meta["names"])];
    if (check === undefined) return [];
    return namesIn(name, path).flatMap((each) => {
      const message = check(each.name, settings, each.path);
      return message === null ? [] : { path: each.path, message };
    });
  });
}

function namesIn(value: unknown, path: string[]): { name: string; path: string[] }[] {
  if (typeof value === "string") return [{ name: value, path }];
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).map((name) => ({ name, path: [...path, name] }));
}

/** What is wrong with a name, by what the option declares that it names. */
const CHECKS: Readonly<
  Record<string, (name: string, settings: Naming, path: readonly string[]) => string | null>
> = { role: unknownRole, reward: unknownReward, tool: unknownTool };

function unknownRole(name: string, settings: Naming, path: readonly string[]): string | null {
  const own = setAround(settings, path)?.models;
  const known = ["policy", ...Object.keys(own ?? settings.models ?? {})];
  if (known.includes(name)) return null;
  return `is "${name}"; no such model. ${suggest(name, known)} Add it to models.`;
}

/** The evaluation set that an option belongs to. */
function setAround({ evaluation }: Naming, path: readonly string[]) {
  const [first, second, set = ""] = path;
  return first === "evaluation" && second === "sets" ? evaluation?.sets?.[set] : undefined;
}

/** Environments without \`tools\` have actions of their own, which only they know. */
function unknownTool(name: string, settings: Naming, path: readonly string[]): string | null {
  const environment = setAround(settings, path)?.environment ?? settings.environment ?? {};
  const given: unknown = "tools" in environment ? environment.tools : undefined;
  if (!Array.isArray(given)) return null;
  const known = (given as { name: string; as?: string }[]).map(
    ({ name: part, as }) => as ?? tools.get(part, "environment.tools").action,
  );
  if (known.includes(name)) return null;
  const hint = known.length === 0 ? "environment.tools is empty." : suggest(name, known);
  return `is "${name}"; the environment has no such tool. ${hint}`;
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
