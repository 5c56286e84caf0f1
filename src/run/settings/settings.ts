import { dirname } from "node:path";
import { withNamedParts } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import { leavesOf } from "../../base/leaves.ts";
import { checkOptions, type z } from "../../base/schema.ts";
import { pathsFrom, withModels } from "../../base/setting-path.ts";
import { parseYamlValue } from "../../base/yaml.ts";
import { atTier } from "./base-names.ts";
import { withFullSets } from "./full-sets.ts";
import { Layers, isObject } from "./layers.ts";
import type { Arm, Claim, RecipeFile, Tier } from "./recipe-schema.ts";

/** A setting from outside the file: a flag, `--set`, or an arm of a claim. */
export interface Override {
  /** Dotted: `algorithm.groupSize`; a number is a position in a list. */
  key: string;
  value: unknown;
  /** What messages and listings call it: `--seed`. */
  origin: string;
  /** The origin of a value inside it, where that is known more exactly. */
  originOf?: (keys: readonly string[]) => string;
  /** The recipe file sets it, so its paths start from the recipe's folder. */
  isOfRecipe?: boolean;
  /** The value as it was typed, for a setting that is text and whose value YAML reads as something else: `{question}`. */
  text?: string;
}

/** Settings and, for each value by dotted key, where it comes from. */
export interface ResolvedSettings<S = unknown> {
  recipe: RecipeFile;
  tier: Tier;
  settings: S;
  /** `default`, `recipes/a.yaml:12`, `recipes/a.yaml:40 (tier mini)`, `--set`, `--seed`, … */
  origins: ReadonlyMap<string, string>;
  /** Keys that a layer sets to null over a value of a layer below: where null is no value, they are removed. */
  removed: ReadonlySet<string>;
  /** What was laid over the recipe's tier, to resolve it again with more. */
  overrides: readonly Override[];
}

/**
 * The override that `--set key=value` means. The value is read as YAML.
 * @throws {ConfigError} RECIPE_BAD_VALUE without a key and "=", RECIPE_NOT_YAML.
 * @example parseSet("algorithm.groupSize=4") // { key: "algorithm.groupSize", value: 4, origin: "--set" }
 */
export function parseSet(text: string): Override {
  const split = text.indexOf("=");
  if (split < 1) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `--set is ${JSON.stringify(text)}: expected key=value, e.g. algorithm.groupSize=4.`,
    );
  }
  const key = text.slice(0, split).trim();
  const typed = text.slice(split + 1);
  return { key, value: parseYamlValue(typed, `--set ${key}`), origin: "--set", text: typed };
}

/** Draws of each question in the evaluations of claims at tier mini: one draw makes three quarters of the noise between seeds. */
const CLAIM_DRAWS = 4;

/** The overrides that make one arm of a claim: four draws a question, `claims.base` of the tier, then the arm's own settings. */
export function armOverrides(
  recipe: RecipeFile,
  { tier, claim, arm }: { tier: Tier; claim: Claim; arm: Arm },
): Override[] {
  const origin = `claim ${claim.id}, arm ${arm.name}`;
  const set = tier === "paper" ? (arm.paperSet ?? arm.set) : arm.set;
  const draws = { key: "evaluation.samplesPerTask", value: CLAIM_DRAWS, origin: "claims" };
  return [
    ...(tier === "mini" ? [draws] : []),
    ...claimsBase(recipe, tier),
    ...setOverrides(set, origin),
  ];
}

/** The settings with which all arms run, as overrides; those of the recipe that it extends first. */
export function claimsBase(recipe: RecipeFile, tier: Tier): Override[] {
  const originOf = (keys: readonly string[]): string =>
    `${recipe.place(["claims", "base", tier, ...keys])} (claims, tier ${tier})`;
  const own = Object.entries(recipe.claims.base[tier] ?? {}).map(([key, value]) => ({
    key,
    value,
    origin: originOf([key]),
    originOf,
    isOfRecipe: true,
  }));
  return [...(recipe.below === null ? [] : claimsBase(recipe.below, tier)), ...own];
}

/** Settings of the recipe file by dotted key, as overrides. */
function setOverrides(set: Arm["set"], origin: string): Override[] {
  return Object.entries(set).map(([key, value]) => ({ key, value, origin, isOfRecipe: true }));
}

/** The seed of an arm's run: a replicate has a random stream of its own. */
export function seedOf({ replicate }: Pick<Arm, "replicate">, seed: number): number {
  return seed + 1000 * replicate;
}

/**
 * Settings of a recipe at a tier: the recipe that it extends < base < tier < overrides in their order. Objects merge key by key; lists and scalars
 * are replaced; an object that selects another part (`name`) or schedule replaces the old one with its options.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when an override addresses a list by anything but a position in it.
 */
export function resolveSettings(
  recipe: RecipeFile,
  { tier, overrides = [] }: { tier: Tier; overrides?: readonly Override[] },
): ResolvedSettings {
  const layers = new Layers();
  for (const each of withBelow(recipe)) {
    layers.put([], each.base, (keys) => each.place(["base", ...keys]));
    layers.put(
      [],
      each.tiers[tier] ?? {},
      (keys) => `${each.place(["tiers", tier, ...keys])} (tier ${tier})`,
    );
  }
  for (const { key, value, origin, originOf = () => origin } of overrides)
    layers.put(key.split("."), value, originOf);
  const { settings, origins, removed } = layers;
  return { recipe, tier, settings, origins, removed, overrides };
}

/**
 * Checks resolved settings against their schema and fills in its defaults. Paths of the recipe file start from its folder. Where a setting must be
 * text and a flag's value is not, because YAML reads `{question}` as a map and `2024` as a number, the value is what was typed. Where null is no
 * value of a setting, it removes what a layer below has set. The parts that the settings name must be loaded: `loadSettings`.
 * @throws {ConfigError} RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE, PART_UNKNOWN, each beginning with where the value stands.
 */
export function checkSettings<S extends z.ZodType>(
  schema: S,
  given: ResolvedSettings,
): ResolvedSettings<z.output<S>> {
  const resolved = withFullSets(schema, given);
  const result = checkOptions(schema, resolved.settings);
  if (result.problem !== null) {
    const { code, path, message } = result.problem;
    const typed = asTyped(given, result.problem);
    if (typed !== null) return checkSettings(schema, typed);
    const rest = given.removed.has(path.join(".")) ? without(given.settings, path) : null;
    if (rest !== null) return checkSettings(schema, { ...given, settings: rest });
    const where = originNear(resolved, path);
    throw new ConfigError(code, `${where}: ${path.join(".")} ${message}`);
  }
  const origins = new Map<string, string>();
  for (const [keys] of leavesOf(result.value)) {
    origins.set(keys.join("."), originOfLeaf(resolved.origins, keys) ?? "default");
  }
  const isOf = (recipe: RecipeFile, origin: string): boolean =>
    recipe === resolved.recipe
      ? isOfRecipe(resolved, origin)
      : origin.startsWith(`${recipe.path}:`);
  const named = withModels(schema, result.value, (model) => atTier(model, resolved.tier));
  const settings = withBelow(resolved.recipe).reduce(
    (value, recipe) =>
      pathsFrom(dirname(recipe.path), schema, value, (key) =>
        isOf(recipe, origins.get(key) ?? "default"),
      ),
    named,
  );
  return { ...resolved, settings, origins };
}

/** As `checkSettings`, after loading the parts that the settings name. */
export async function loadSettings<S extends z.ZodType>(
  schema: S,
  given: ResolvedSettings,
): Promise<ResolvedSettings<z.output<S>>> {
  return withNamedParts(given.settings, () => checkSettings(schema, given));
}

/** What a check says of a value that is not text. */
const EXPECTS_TEXT = /: expected text\.?$/;

/** The settings with the flag's value at a place as it was typed; null where text is not what is missing there. */
function asTyped(
  { recipe, tier, overrides }: ResolvedSettings,
  { path, message }: { path: readonly string[]; message: string },
): ResolvedSettings | null {
  const key = path.join(".");
  const at = overrides.findLastIndex((each) => each.key === key);
  const { text, value } = overrides[at] ?? {};
  if (text === undefined || typeof value === "string" || !EXPECTS_TEXT.test(message)) return null;
  const typed = overrides.map((each, i) => (i === at ? { ...each, value: text.trim() } : each));
  return resolveSettings(recipe, { tier, overrides: typed });
}

/** Settings without a key whose value is null; null where another value stands there. */
function without(settings: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined || !isObject(settings) || !(key in settings)) return null;
  const { [key]: value, ...others } = settings;
  if (value === null) return rest.length === 0 ? others : null;
  const inner = without(value, rest);
  return inner === null ? null : { ...settings, [key]: inner };
}

/** Whether an origin is in the recipe file. */
export function isOfRecipe(
  { recipe, overrides }: Pick<ResolvedSettings, "recipe" | "overrides">,
  origin: string,
): boolean {
  if (origin.startsWith(`${recipe.path}:`)) return true;
  const named = overrides.find((each) => each.origin === origin && each.isOfRecipe === true);
  // What stands in a file says so itself.
  return named !== undefined && named.originOf === undefined;
}

/** A recipe after the one that it extends. */
export function withBelow(recipe: RecipeFile): RecipeFile[] {
  return [...(recipe.below === null ? [] : withBelow(recipe.below)), recipe];
}

/** Settings as a run recorded them, in today's form: older versions kept the budgets among the environment's options. */
export function recordedSettings(resolved: ResolvedSettings): ResolvedSettings {
  const settings = resolved.settings as Record<string, unknown>;
  const { budgets, ...environment } = (settings["environment"] ?? {}) as Record<string, unknown>;
  return budgets === undefined
    ? resolved
    : { ...resolved, settings: { ...settings, budgets, environment } };
}

/** `algorithm: grpo` in the file is `algorithm.name` once checked. */
function originOfLeaf(
  origins: ReadonlyMap<string, string>,
  keys: readonly string[],
): string | undefined {
  const own = origins.get(keys.join("."));
  return own ?? (keys.at(-1) === "name" ? origins.get(keys.slice(0, -1).join(".")) : undefined);
}

/** Where to look for a bad value: its own origin, else that of something in or around it. */
function originNear(resolved: ResolvedSettings, path: readonly string[]): string {
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length).join(".");
    for (const [known, origin] of resolved.origins) {
      if (known === key || known.startsWith(`${key}.`)) return origin;
    }
  }
  return resolved.recipe.path;
}

/**
 * The same settings with more laid over them.
 * @throws {ConfigError} as `resolveSettings` and `checkSettings`.
 */
export async function withOverrides<S extends z.ZodType>(
  schema: S,
  { recipe, tier, overrides }: ResolvedSettings,
  more: readonly Override[],
): Promise<ResolvedSettings<z.output<S>>> {
  return loadSettings(
    schema,
    resolveSettings(recipe, { tier, overrides: [...overrides, ...more] }),
  );
}
