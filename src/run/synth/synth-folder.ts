import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { parseOptions, z } from "../../base/schema.ts";
import { loadRecipe, selectTier } from "../settings/recipe-file.ts";
import { recordOf } from "../settings/resolved-yaml.ts";
import { DRAWS_FILE } from "../../synth/draw-log.ts";
import type { StageResult, StageSession } from "../stages/stage.ts";
import { startRun } from "../folder/run-folder.ts";
import { MANIFEST_FILE, RESOLVED_FILE, runStage } from "../folder/run-file.ts";
import { withRunLock } from "../folder/run-lock.ts";
import {
  type SelectOptions,
  selectInto,
  type SynthFacts,
  type SynthOptions,
  type SynthResult,
} from "./run-synth.ts";
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
  const facts = await factsOfFolder(folder);
  for (const { key, origin } of overrides) {
    if (SELECTION_KEYS.some((own) => key === own || key.startsWith(`${own}.`))) continue;
    throw new ConfigError(
      "USAGE",
      `${origin} ${key}: the draws of ${folder} are made; what is selected from them depends on ${SELECTION_KEYS.join(", ")}. Leave it out, or draw anew into another folder.`,
    );
  }
  return { resolved: await resolvedOf(folder, overrides), facts };
}

/** What the manifest of a synthesis says of its draws. @throws {DataError} FILE_MISSING where the folder holds no run. */
async function factsOfFolder(folder: string): Promise<SynthFacts> {
  const path = join(folder, MANIFEST_FILE);
  const { machine: _, ...facts } = parseOptions(factsSchema, await readJson(path), path);
  return facts;
}

/**
 * The stage `select`: selects from the draws of an earlier stage by its own `synth.steps`, `synth.selection` and `synth.validation`, into
 * a folder of its own.
 * @throws {ConfigError} RECIPE_BAD_VALUE unless it learns from one stage that draws.
 * @throws as `selectSamples`.
 */
export async function selectFromDraws(
  session: StageSession,
  { keepDropped }: Pick<SynthOptions, "keepDropped">,
): Promise<StageResult & { result: SynthResult }> {
  const { settings, record, draws, out, version } = session;
  const [drawsIn] = draws;
  if (drawsIn === undefined || draws.length > 1 || !existsSync(join(drawsIn, DRAWS_FILE))) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${record.path}: a stage "select" needs the draws of one stage "synth" before it; name it by data: NAME.`,
    );
  }
  const facts = await factsOfFolder(drawsIn);
  const stages = [runStage("select", "select", { number: 1, reads: [drawsIn] })];
  await startRun(out, record, { version, stages, manifest: { ...facts } });
  const result = await selectInto(out, settings, { ...session, keepDropped, facts, drawsIn });
  return { policy: null, result };
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
