import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { parseOptions, z } from "../../base/schema.ts";
import { loadRecipe, selectTier } from "../settings/recipe-file.ts";
import { recordOf } from "../settings/resolved-yaml.ts";
import { MANIFEST_FILE, RESOLVED_FILE } from "../folder/run-file.ts";
import { withRunLock } from "../folder/run-lock.ts";
import { type SelectOptions, selectInto, type SynthFacts, type SynthResult } from "./run-synth.ts";
import {
  loadSettings,
  type Override,
  type ResolvedSettings,
  resolveSettings,
} from "../settings/settings.ts";
import { type Settings, settingsSchema } from "../settings/settings-schema.ts";

/** What selection depends on alone: all else was decided when the draws were made. */
const SELECTION_KEYS = ["synth.steps", "synth.selection", "synth.validation"];

const factsSchema = z.looseObject({
  agentrl: z.string(),
  recipe: z.string(),
  tier: z.string(),
  seed: z.number(),
  teacher: z.looseObject({ name: z.string() }),
  dataset: z.string(),
  hashes: z.looseObject({
    settings: z.string(),
    template: z.string(),
    retriever: z.string(),
    dataset: z.string(),
  }),
  readsGold: z.boolean(),
});

/** A run of a synthesis that is on disk. */
export interface SynthFolder {
  resolved: ResolvedSettings<Settings>;
  facts: SynthFacts;
}

/**
 * Reads the settings of a run's folder and what it drew from.
 * @throws {DataError} FILE_MISSING where the folder holds no run.
 * @throws {ConfigError} USAGE for overrides of what its draws were made with.
 */
export async function openSynthFolder(
  folder: string,
  overrides: readonly Override[] = [],
): Promise<SynthFolder> {
  const path = join(folder, MANIFEST_FILE);
  const { machine: _, ...facts } = parseOptions(factsSchema, await readJson(path), path);
  for (const { key, origin } of overrides) {
    if (SELECTION_KEYS.some((own) => key === own || key.startsWith(`${own}.`))) continue;
    throw new ConfigError(
      "USAGE",
      `${origin} ${key}: the draws of ${folder} are made; what is selected from them depends on ${SELECTION_KEYS.join(", ")}. Leave it out, or draw anew into another folder.`,
    );
  }
  return { resolved: await resolvedOf(folder, overrides), facts: facts as unknown as SynthFacts };
}

/**
 * Settings of the run that wrote a folder's samples.
 * @throws {DataError} FILE_MISSING
 */
export async function settingsOfFolder(folder: string): Promise<Settings> {
  if (!existsSync(join(folder, RESOLVED_FILE))) {
    throw new DataError(
      "FILE_MISSING",
      `${folder}: has no ${RESOLVED_FILE}, which says by which protocol and tools its records were made. Name a file in the folder of its synthesis, or copy ${RESOLVED_FILE} beside it.`,
    );
  }
  return (await resolvedOf(folder, [])).settings;
}

async function resolvedOf(
  folder: string,
  overrides: readonly Override[],
): Promise<ResolvedSettings<Settings>> {
  const recipe = await loadRecipe(join(folder, RESOLVED_FILE));
  const tier = selectTier(recipe, undefined);
  return loadSettings(settingsSchema, resolveSettings(recipe, { tier, overrides }));
}

/**
 * Selects from a folder's draws again: nothing is drawn.
 * @param options.overrides of `synth.steps`, `synth.selection` and `synth.validation`; the folder's settings change with them.
 * @throws as `openSynthFolder` and `selectSamples`.
 */
export async function selectAgain(
  folder: string,
  options: SelectOptions & { overrides: readonly Override[] },
): Promise<SynthResult> {
  const { overrides } = options;
  const { resolved, facts } = await openSynthFolder(folder, overrides);
  return withRunLock(folder, async () => {
    const result = await selectInto(folder, resolved.settings, { ...options, facts });
    if (overrides.length > 0) await recordOf(resolved).writeRecipe(folder);
    return result;
  });
}
