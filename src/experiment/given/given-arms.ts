import { ConfigError } from "../../base/errors.ts";
import { suggest } from "../../base/nearest.ts";
import type { RecipeFile, Tier } from "../../run/settings/recipe-schema.ts";
import type { Settings } from "../../run/settings/settings-schema.ts";
import { armRuns } from "../arms/arm-runs.ts";
import type { GivenEntry } from "./given-file.ts";

/** Arms of equal settings, which one result is of. */
export interface GivenArm {
  /** `claim/arm` of each. */
  ids: string[];
  settings: Settings;
}

/** The arms of a recipe's claims without their runs: nothing is hashed or downloaded. */
export async function givenArms(recipe: RecipeFile, tier: Tier): Promise<GivenArm[]> {
  const source = { recipe, tier, plan: { seeds: [1] }, overrides: [], version: "" };
  const runs = await armRuns({ ...source, inputs: () => Promise.resolve({}) }, () => 1);
  const claims = new Set(recipe.claims.tests.map(({ id }) => id));
  return runs
    .map(({ arms, settings: { settings } }) => ({
      ids: arms.filter((id) => claims.has(id.slice(0, id.indexOf("/")))),
      settings,
    }))
    .filter(({ ids }) => ids.length > 0);
}

/** @throws {ConfigError} RECIPE_BAD_VALUE for a name of no arm, or of arms with different settings. */
export function armNamed({ arm, where }: GivenEntry, arms: readonly GivenArm[]): GivenArm {
  const found = arms.filter(({ ids }) => ids.some((id) => id === arm || id.endsWith(`/${arm}`)));
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  const problem = (sentence: string): ConfigError =>
    new ConfigError("RECIPE_BAD_VALUE", `${where}: arm ${sentence}`);
  if (first === undefined) {
    const names = arms.flatMap(({ ids }) => ids.map((id) => id.slice(id.indexOf("/") + 1)));
    throw problem(`is "${arm}"; no claim has such an arm. ${suggest(arm, [...new Set(names)])}`);
  }
  const ids = found.flatMap((each) => each.ids.filter((id) => id.endsWith(`/${arm}`)));
  throw problem(
    `is "${arm}", and arms with that name have different settings: ${ids.join(", ")}. Name one with its claim.`,
  );
}
