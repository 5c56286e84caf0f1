import { leavesOf } from "../base/leaves.ts";
import type { SettingDifference } from "./claims/claim-results.ts";
import { shortHash } from "../evaluate/fingerprint.ts";
import { claimsAt, experiments } from "../run/claims.ts";
import type { Claim, RecipeFile, Tier } from "../run/settings/recipe-schema.ts";
import { effectOf, type Settings, settingsSchema } from "../run/settings/settings-schema.ts";
import {
  armOverrides,
  loadSettings,
  claimsBase,
  type Override,
  resolveSettings,
} from "../run/settings/settings.ts";

/** Where `claims.base` of a tier differs from what `agentrl train` runs: nothing without a base. */
export async function baseDifferences(
  recipe: RecipeFile,
  tier: Tier,
): Promise<SettingDifference[]> {
  const overrides = claimsBase(recipe, tier);
  if (overrides.length === 0) return [];
  const train = await settingsAt(recipe, tier, []);
  const claims = await settingsAt(recipe, tier, overrides);
  const [ofTrain, ofClaims] = [valuesOf(train.settings), valuesOf(claims.settings)];
  return [...new Set([...ofTrain.keys(), ...ofClaims.keys()])].flatMap((key) => {
    const [was, is] = [ofTrain.get(key), ofClaims.get(key)];
    // Of a part that only claims have, what they leave at its default says nothing.
    const isOwnDefault = was === undefined && claims.origins.get(key) === "default";
    if (isOwnDefault || JSON.stringify(was) === JSON.stringify(is)) return [];
    return [{ key, train: was ?? null, claims: is ?? null }];
  });
}

function settingsAt(recipe: RecipeFile, tier: Tier, overrides: readonly Override[]) {
  return loadSettings(settingsSchema, resolveSettings(recipe, { tier, overrides }));
}

function valuesOf(settings: Settings): Map<string, unknown> {
  return new Map([...leavesOf(settings)].map(([keys, value]) => [keys.join("."), value]));
}

/**
 * Hash of what a recipe's claims say and of the settings that its file gives each arm. Defaults are left out, so that a new setting does
 * not make results look outdated; so is what only moves the last bits of a number.
 * @param overrides laid over every arm.
 */
export function claimsHash(
  recipe: RecipeFile,
  tier: Tier,
  overrides: readonly Override[] = [],
): string {
  const decisive = overrides.filter(({ key }) => effectOf(key) !== "numerics");
  const stated = experiments(claimsAt(recipe, tier)).map((claim) => ({
    id: claim.id,
    metric: claim.metric,
    relation: claim.relation,
    arms: claim.arms.map((arm) => {
      const own = [...armOverrides(recipe, { tier, claim, arm }), ...decisive];
      const { settings } = resolveSettings(recipe, { tier, overrides: own });
      return { name: arm.name, replicate: arm.replicate, settings };
    }),
  }));
  return shortHash({ tier, stated });
}

/** What results say of the recipe itself. */
export function recipeHead({ name, summary, family, paper, notes }: RecipeFile) {
  return { recipe: name, summary, family: family ?? null, paper: paper ?? null, notes };
}

/** What a claim's result says of the claim itself. */
export function claimHead({ id, statement, role, metric, relation, source }: Claim) {
  return { id, statement, role, metric, relation, source };
}
