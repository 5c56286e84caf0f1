import { existsSync } from "node:fs";
import { cp, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { makeFolder, writeFileAtomic, writeJson } from "../base/files.ts";
import { withParts } from "../base/registry.ts";
import { packageRoot, packageVersion } from "../base/package-root.ts";
import { readGenerationConfig } from "../models/generation-config.ts";
import { environmentOver, policyFolder, searchlessFor } from "../run/assemble.ts";
import { SHIPPED_POLICIES, findBase, folderOfName } from "../run/bases.ts";
import { requirePaper } from "../run/checks/paper-tier.ts";
import { RESOLVED_FILE } from "../run/folder/run-file.ts";
import { requireData } from "../run/needs.ts";
import { plannedModel } from "../run/plan/planned-model.ts";
import { toYaml } from "../run/settings/resolved-yaml.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../run/settings/settings.ts";
import { type CardForecast, cardForecast } from "./card-forecast.ts";
import {
  configEntries,
  type ConfigEntry,
  configPython,
  configYaml,
  readmeText,
} from "./config-text.ts";
import { experimentOf } from "./experiment.ts";
import { writeData } from "./export-data.ts";
import { type ExportedStage, exportedStage, stagesBefore } from "./exported-stage.ts";
import { playedSettings } from "./played-rules.ts";
import {
  type ExportFacts,
  type ExportedKey,
  type Refusal,
  exportedKeys,
  refusalText,
  refusals,
} from "./rule.ts";
import { type ExportTarget, exportTargets } from "./targets.ts";

/** What an export wrote: the content of origins.json. */
export interface RecipeExport {
  recipe: string;
  tier: string;
  trainer: string;
  trainerVersion: string;
  agentrlVersion: string;
  folder: string;
  /** All files, by their names within the folder. */
  files: string[];
  rows: { train: number; validation: number };
  /** What became of each key of the recipe. */
  keys: ExportedKey[];
  /** The trainer's whole configuration as written. */
  config: ConfigEntry[];
  /** Of several cards; null where the policy's shape is not known here. */
  forecast: CardForecast | null;
}

/**
 * Writes a recipe's experiment for another trainer: configuration, data, rewards, and the code that plays its episodes.
 *
 * @param target name of a trainer.
 * @param out folder; new or empty.
 * @throws {ConfigError} PART_UNKNOWN for no such trainer; EXPORT_UNFIT with every setting that the trainer cannot have; OUTPUT_EXISTS;
 *   BASE_ABSENT for a base policy that is not made.
 * @throws as `Dataset.stream`, and FILE_WRITE_FAILED.
 */
export async function exportRecipe(
  resolved: ResolvedSettings<Settings>,
  target: string,
  options: ExportOptions,
): Promise<RecipeExport> {
  const { out, stage: named } = options;
  const to = exportTargets.get(target, "--to");
  await requirePaper(resolved);
  const stage = await exportedStage(resolved, named);
  await withParts(() => {
    requireTranslation(stage.resolved, to);
  });
  await requireData(stage.resolved);
  if (existsSync(out) && (await readdir(out)).length > 0)
    throw new ConfigError(
      "OUTPUT_EXISTS",
      `${out}: already exists and is not empty. Choose another folder for --out.`,
    );
  try {
    return await writeExport(stage, to, options);
  } catch (error) {
    // The folder was new or empty, and half an export is of no use.
    await rm(out, { recursive: true, force: true });
    throw error;
  }
}

interface ExportOptions {
  out: string;
  /** Graphics cards of the one machine that trains; 1 when absent. */
  gpus?: number | undefined;
  /** The training of a recipe with stages; the last one when absent. */
  stage?: string | undefined;
  signal?: AbortSignal;
}

async function writeExport(
  stage: ExportedStage,
  to: ExportTarget,
  { out, gpus = 1, signal }: ExportOptions,
): Promise<RecipeExport> {
  const { resolved } = stage;
  const { recipe, tier, settings, origins } = resolved;
  const environment = environmentOver(searchlessFor(settings), settings);
  const model = await modelOf(settings.policy.from);
  await makeFolder(join(out, "data"));
  if (model.copy !== null) await cp(model.copy, join(out, model.path), { recursive: true });
  const rows = await writeData({ settings, environment, to, out, signal });
  const { stopStrings: stop } = environment.protocol;
  const facts: ExportFacts = { settings, rows, model: modelKey(model), gpus, stop };
  const keys = await withParts(() => [
    ...stageKeys(stage),
    ...exportedKeys(facts, origins, to.rules),
  ]);
  const chosen = to.chosen(facts, `${recipe.name}-${tier}`);
  const config = configEntries(chosen, keys);
  const title = `${recipe.name}, tier ${tier}, for ${to.name} ${to.version}; written by agentrl ${packageVersion()}.`;
  await writeConfig({ to, out, config, title, model: model.path });
  if (to.plays === "agentrl") {
    const played = { ...resolved, settings: playedSettings(settings) };
    await writeFileAtomic(join(out, RESOLVED_FILE), toYaml(played, out));
  } else {
    const { path, endIds } = model;
    const experiment = experimentOf(settings, environment, { path, endIds });
    await writeJson(join(out, "experiment.json"), experiment);
  }
  await copyTemplates(to, out);
  const tokens = gpus === 1 ? undefined : to.passTokens?.(facts);
  const forecast = tokens === undefined ? null : await forecastOf(settings, { gpus, tokens });
  const told = { title, settings, tier, target: to, keys, model: model.path, forecast };
  const readme = readmeText({ ...told, hasCorpus: rows.corpus > 0 });
  await writeFileAtomic(join(out, "README.md"), readme);
  const { train, validation } = rows;
  const written: RecipeExport = {
    recipe: recipe.name,
    tier,
    trainer: to.name,
    trainerVersion: to.version,
    agentrlVersion: packageVersion(),
    folder: out,
    files: [],
    rows: { train, validation },
    keys,
    config,
    forecast,
  };
  written.files = [...(await filesOf(out)), "origins.json"].toSorted();
  await writeJson(join(out, "origins.json"), written);
  return written;
}

/** null where neither the policy's folder is here nor its shape known. */
async function forecastOf(
  settings: Settings,
  cards: { gpus: number; tokens: number },
): Promise<CardForecast | null> {
  try {
    const { config } = await plannedModel(settings);
    return cardForecast(config, cards);
  } catch (error) {
    if (error instanceof ConfigError && error.code === "PLAN_MODEL_ABSENT") return null;
    throw error;
  }
}

/** What became of the stages before the exported training. */
function stageKeys(stage: ExportedStage): ExportedKey[] {
  const differs = stagesBefore(stage);
  if (differs === null) return [];
  const value = stage.before.map(({ name }) => name);
  return [{ from: "stages", value, origin: stage.resolved.recipe.path, to: {}, differs }];
}

/** @throws {ConfigError} EXPORT_UNFIT with every setting that the trainer cannot have. */
function requireTranslation(
  { recipe, tier, settings, origins }: ResolvedSettings<Settings>,
  { name, version, rules }: ExportTarget,
): void {
  const refused: Refusal[] =
    settings.algorithm === undefined
      ? [{ from: "algorithm", value: null, origin: recipe.path, allowed: "grpo, ppo" }]
      : refusals(settings, origins, rules);
  if (refused.length === 0) return;
  const count = `${refused.length} ${refused.length === 1 ? "setting" : "settings"}`;
  throw new ConfigError(
    "EXPORT_UNFIT",
    `${recipe.path}, tier ${tier}: ${name} ${version} cannot run ${count} of this recipe. Change them with --set, or choose another --to.\n${refused.map((each) => `  ${refusalText(each)}`).join("\n")}`,
  );
}

interface Model {
  /** As experiment.json names it: a folder within the export, a folder elsewhere, or a name on the hub. */
  path: string;
  /** The folder to copy to `path`; null: none. */
  copy: string | null;
  /** Tokens that end a completion beside the tokenizer's EOS, where the folder is here. */
  endIds: readonly number[];
}

/** Policies of the package travel with the export; others stay where they are. Nothing is downloaded. */
async function modelOf(from: string): Promise<Model> {
  const shipped = SHIPPED_POLICIES.get(from);
  if (shipped !== undefined)
    return { path: "policy", copy: shipped, endIds: await endIdsOf(shipped) };
  const folder = await folderOfName(from);
  if (existsSync(folder))
    return { path: resolve(folder), copy: null, endIds: await endIdsOf(folder) };
  if ((await findBase(from)) === null) return { path: from, copy: null, endIds: [] };
  const made = await policyFolder(from);
  return { path: made, copy: null, endIds: await endIdsOf(made) };
}

async function endIdsOf(folder: string): Promise<readonly number[]> {
  // A folder of adapters has none of its own.
  if (!existsSync(join(folder, "config.json"))) return [];
  return (await readGenerationConfig(folder)).eosIds;
}

/** The model in a configuration whose paths start from `agentrl.root`. */
function modelKey({ path, copy }: Model): string {
  return copy === null ? path : `\${agentrl.root}/${path}`;
}

interface Config {
  to: ExportTarget;
  out: string;
  config: readonly ConfigEntry[];
  title: string;
  model: string;
}

async function writeConfig({ to, out, config, title, model }: Config): Promise<void> {
  if (to.rows === "jsonl") {
    await writeFileAtomic(join(out, "config.py"), configPython(config, title, model));
    return;
  }
  const text = configYaml(config, title, to.top ?? {});
  await writeFileAtomic(join(out, "config.yaml"), text);
}

async function copyTemplates({ name, plays }: ExportTarget, out: string): Promise<void> {
  const templates = join(packageRoot, "templates", "exports");
  for (const folder of [...(plays === "agentrl" ? ["played"] : []), name])
    await cp(join(templates, folder), out, { recursive: true });
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(resolve(folder).length + 1));
}
