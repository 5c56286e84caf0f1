import { join } from "node:path";
import { leavesOf } from "../../base/leaves.ts";
import { pluginHashes } from "../../base/plugins.ts";
import type { SeedPlan } from "../claims/looks.ts";
import { shortHash } from "../../evaluate/fingerprint.ts";
import { experiments } from "../../run/claims.ts";
import type { RecipeFile, Tier } from "../../run/settings/recipe-schema.ts";
import { type Settings, settingsSchema } from "../../run/settings/settings-schema.ts";
import {
  armOverrides,
  loadSettings,
  type Override,
  type ResolvedSettings,
  resolveSettings,
  seedOf,
} from "../../run/settings/settings.ts";
import type { ArmInputs } from "./arm-inputs.ts";

/** One training run of a reproduction. */
export interface ArmRun {
  /** Hash of the settings that are not defaults, the seed, the version, plugins and input files: equal keys, equal result. */
  key: string;
  seed: number;
  /** `claim/arm` of every arm that these settings are. */
  arms: string[];
  settings: ResolvedSettings<Settings>;
}

/** What the runs of a recipe's arms are made of. */
export interface ArmSource {
  recipe: RecipeFile;
  tier: Tier;
  plan: Pick<SeedPlan, "seeds">;
  overrides: readonly Override[];
  version: string;
  inputs: ArmInputs;
}

/**
 * Every distinct run, seed by seed: arms of equal settings are one run.
 * @param seedsOf number of seeds of a claim.
 * @throws {ConfigError} as `checkSettings`, for any arm.
 */
export async function armRuns(
  { recipe, tier, plan, overrides, version, inputs }: ArmSource,
  seedsOf: (claim: string) => number,
): Promise<ArmRun[]> {
  const runs = new Map<string, ArmRun>();
  for (const [s, seed] of plan.seeds.entries()) {
    for (const claim of experiments(recipe).filter(({ id }) => s < seedsOf(id))) {
      for (const arm of claim.arms) {
        const own = [...armOverrides(recipe, { tier, claim, arm }), ...overrides];
        const all = [...own, { key: "seed", value: seedOf(arm, seed), origin: "--seeds" }];
        const resolved = resolveSettings(recipe, { tier, overrides: all });
        const settings = await loadSettings(settingsSchema, resolved);
        const plain = shortHash(settings.settings);
        let run = runs.get(plain);
        if (run === undefined) {
          const key = shortHash({
            settings: statedSettings(settings),
            version,
            inputs: await inputs(settings.settings),
            ...pluginHashes(settings.settings),
          });
          run = { key, seed, arms: [], settings };
          runs.set(plain, run);
        }
        run.arms.push(`${claim.id}/${arm.name}`);
      }
    }
  }
  return [...runs.values()];
}

/** Settings without those at their default, so that a new setting makes no result another one. */
function statedSettings({ settings, origins }: ResolvedSettings<Settings>): [string, unknown][] {
  return [...leavesOf(settings)].flatMap(([keys, value]): [string, unknown][] => {
    const key = keys.join(".");
    return value === undefined || origins.get(key) === "default" ? [] : [[key, value]];
  });
}

/** A run's folder in that of its reproduction: `runs/search-seed1-3f0c91be6a27`, an arm's name for people and the key. */
export function armFolder(out: string, { arms, seed, key }: Omit<ArmRun, "settings">): string {
  const arm = arms[0]?.split("/")[1] ?? "run";
  return join(out, "runs", `${arm}-seed${seed}-${key}`);
}
