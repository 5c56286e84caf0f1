import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { packageRoot, packageVersion } from "../base/package-root.ts";
import { pluginHashes } from "../base/plugins.ts";
import { modelsIn } from "../base/setting-path.ts";
import { userCache } from "../base/user-cache.ts";
import { shortHash } from "../evaluate/fingerprint.ts";
import type { HubModelOptions } from "../hub/hub-model.ts";
import { namedModelHere, placeOfWheel } from "./fetch-named-model.ts";
import { hashOfPolicy } from "./folder/policy-hash.ts";
import { ggufPlace, isGgufFile } from "./gguf-policy.ts";
import { madeOnce } from "./made-once.ts";
import { namedModel, namedModels } from "./named-models.ts";
import { baseNamed, baseNames } from "./settings/base-names.ts";
import { loadRecipe, selectTier } from "./settings/recipe-file.ts";
import { settingsHash } from "./settings/settings-hash.ts";
import { type Settings, settingsSchema } from "./settings/settings-schema.ts";
import { type ResolvedSettings, loadSettings, resolveSettings } from "./settings/settings.ts";

/** The shipped base policy. */
export const BASE_POLICY = join(packageRoot, "datasets", "base-policy");

/** Folders of the shipped policies by name. Bases are forks of the literate one. */
export const SHIPPED_POLICIES: ReadonlyMap<string, string> = new Map([
  ["base", BASE_POLICY],
  ["literate", join(packageRoot, "datasets", "literate-policy")],
  ["numerate", join(packageRoot, "datasets", "numerate-policy")],
  ["coding", join(packageRoot, "datasets", "coding-policy")],
]);

/** A policy that a recipe of recipes/bases makes on its first use. */
export interface Base {
  /** `timid`, or `timid@smoke` for another tier of its recipe. */
  name: string;
  resolved: ResolvedSettings<Settings>;
  /** Hash of everything that decides its weights. */
  key: string;
  /** Where it is kept once it is made. */
  folder: string;
}

/** How far a base is that is being made. */
export interface BaseProgress {
  name: string;
  /** Steps of the present stage. `total` is null where it is not known. */
  done: number;
  total: number | null;
  note: string;
}

/** How to make a base, for a caller that may have to. @returns the folder of its policy, below `out`. */
export type MakeBase = (
  base: Base,
  out: string,
  options: PolicyOptions & { signal: AbortSignal },
) => Promise<string>;

/** How a policy gets here that is not here yet: downloaded or made. */
export interface PolicyOptions extends HubModelOptions {
  makeBase?: MakeBase;
  onBase?: (progress: BaseProgress) => void;
}

/** All names of policies that come with the package. */
export function policyNames(): string[] {
  return [...SHIPPED_POLICIES.keys(), ...baseNames()];
}

/** All names that are no folder's, for messages. */
export function knownNames(): string[] {
  return [...policyNames(), ...namedModels.map(({ name }) => name)];
}

/** The folder of a policy that is named, whether or not it is there; any other text as it is. Nothing is downloaded or made. */
export async function folderOfName(from: string): Promise<string> {
  if (isGgufFile(from)) return ggufPlace(from);
  const named = namedModel(from);
  if (named !== undefined) return (await namedModelHere(named))?.folder ?? placeOfWheel(named);
  return SHIPPED_POLICIES.get(from) ?? (await findBase(from))?.folder ?? from;
}

/** The base of a name; null: it is no base's. @throws {ConfigError} as `loadRecipe`, `selectTier` and `checkSettings`. */
export async function findBase(name: string): Promise<Base | null> {
  const named = baseNamed(name);
  if (named === null) return null;
  const recipe = await loadRecipe(named.recipe);
  const asked = resolveSettings(recipe, { tier: selectTier(recipe, named.tier) });
  const resolved = await loadSettings(settingsSchema, asked);
  // Its evaluation, which the card uses, changes no weight.
  const { evaluation: _, ...settings } = resolved.settings;
  const { fresh, from } = settings.policy;
  const facts = {
    settings: settingsHash(settings),
    parent: fresh === undefined ? await contentOf(from) : null,
    version: packageVersion(),
    ...pluginHashes(settings),
  };
  const key = shortHash(facts);
  return { name, resolved, key, folder: join(placeOfBases(), `${recipe.name}-${key}`) };
}

/** Makes the bases that settings name, where the cache lacks them. */
export async function makeBases(settings: Settings, options: PolicyOptions): Promise<void> {
  for (const model of modelsIn(settingsSchema, settings)) {
    const base = await findBase(model);
    if (base !== null) await madeBase(base, options);
  }
}

/** What decides the weights of a parent; bases tell by their own key, so that they need not be made. */
async function contentOf(from: string): Promise<string> {
  const base = await findBase(from);
  if (base !== null) return base.key;
  const folder = SHIPPED_POLICIES.get(from) ?? from;
  return existsSync(folder) ? hashOfPolicy(folder) : from;
}

/** Where bases are kept. */
export function placeOfBases(): string {
  return join(userCache(), "bases");
}

const TAKES = { smoke: "some seconds", mini: "2 to 4 minutes on two idle cores", paper: "long" };

/**
 * The folder of a base, which is made if the cache lacks it (`madeOnce`).
 *
 * @throws {ConfigError} BASE_ABSENT when it is not made and the caller cannot make it.
 * @throws as `madeOnce`; what the stages of its recipe throw.
 */
export async function madeBase(base: Base, options: PolicyOptions): Promise<string> {
  const { folder, name } = base;
  if (existsSync(folder)) return folder;
  const { makeBase, onNotice, signal = new AbortController().signal } = options;
  if (makeBase === undefined) {
    throw new ConfigError(
      "BASE_ABSENT",
      `The base policy "${name}" is not made yet: ${folder} does not exist. \`agentrl eval --policy ${name}\` makes it; in a program, pass makeBase.`,
    );
  }
  return madeOnce({
    folder,
    what: `the base policy "${name}"`,
    verb: "makes",
    onNotice,
    signal,
    notice: `makes the base policy "${name}" first, once; it takes ${TAKES[base.resolved.tier]}; kept in ${folder}`,
    make: (out) => makeBase(base, out, { ...options, signal }),
  });
}
