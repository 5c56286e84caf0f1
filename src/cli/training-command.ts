import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { packageVersion } from "../base/package-root.ts";
import { quoted } from "../base/format.ts";
import { parseYamlValue } from "../base/yaml.ts";
import type { RunFolderUse } from "../run/folder/claim-run.ts";
import type { Session } from "../run/session.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { Override, ResolvedSettings } from "../run/settings/settings.ts";
import { type Block, heading } from "../view/document.ts";
import type { Printed } from "../view/terminal.ts";
import type { CliContext } from "./command.ts";
import { noteAnswers } from "./data-flags.ts";
import { watchDownload } from "./model-download.ts";
import { type Flags, options, overwriteFlag, repeated } from "./options.ts";
import { DEFAULT_RECIPE } from "./own-data.ts";
import {
  defaultRunFolder,
  overridesOf,
  recipeOptions,
  requiredRecipe,
  settingsOf,
} from "./recipe-options.ts";
import { watchTraining } from "./train-watch.ts";
import { type TrainingDataFlags, trainingData } from "./training-data.ts";

/** Options of every command that trains into a run folder. @param out describes --out. */
export function trainingOptions(out: string) {
  return options({
    ...recipeOptions(out),
    model: [
      "<name>",
      "policy to start from: a Hugging Face folder, a GGUF file, smollm2-135m, or org/name[@revision] of the hub",
    ],
    resume: [
      "",
      "resume from the newest checkpoint of the run folder, which may stand in place of the recipe",
    ],
    overwrite: overwriteFlag("replace the run in the folder"),
    reporter: [
      "<name|yaml>",
      'also send metrics to tensorboard, mlflow, trackio or wandb (files to upload), e.g. "{ name: mlflow, url: http://127.0.0.1:5000 }"; repeatable',
      repeated,
    ],
    plain: ["", "print a line per step instead of the live view"],
  });
}

/** Options that exclude each other. */
export const TRAINING_CONFLICTS = { overwrite: ["resume"] } as const;

export type TrainingFlags = Flags<ReturnType<typeof trainingOptions>> & TrainingDataFlags;

/** How to handle an existing run in the folder. */
function folderUseOf({ resume, overwrite }: TrainingFlags): Required<RunFolderUse> {
  return { resume: resume === true, overwrite: overwrite === true };
}

/**
 * The recipe and folder of a training command. With --resume a run's folder stands for its recipe: `train --resume RUN`, or `--out RUN`
 * without a recipe; the run folder has its settings.
 * @throws {ConfigError} USAGE without a recipe.
 */
async function trainingPlace(
  argument: string | undefined,
  flags: TrainingFlags,
): Promise<{ recipe: string; out: string | undefined }> {
  const { out, resume, dataset } = flags;
  const named = argument ?? flags.recipe;
  const run = named ?? out;
  if (resume === true && run !== undefined) {
    const { RESOLVED_FILE } = await import("../run/folder/run-file.ts");
    const recipe = join(run, RESOLVED_FILE);
    if (existsSync(recipe)) return { recipe, out: out ?? run };
  }
  if (dataset !== undefined && named === undefined) return { recipe: DEFAULT_RECIPE, out };
  return { recipe: requiredRecipe(argument, flags.recipe), out };
}

/**
 * The settings and run folder of a training command.
 * @param argument the recipe, as an argument; flags.recipe is the same.
 * @param more overrides of the command's own flags.
 * @param suffix of the default run folder.
 * @throws {ConfigError} USAGE without a recipe; as `settingsOf` and `trainingData`.
 */
export async function trainingSettings(
  argument: string | undefined,
  flags: TrainingFlags,
  { note }: { note: (text: string) => void },
  { more = [], suffix = "" }: { more?: readonly Override[]; suffix?: string } = {},
): Promise<{ resolved: ResolvedSettings<Settings>; out: string }> {
  const { model, reporter } = flags;
  const { recipe, out } = await trainingPlace(argument, flags);
  const data = await trainingData(flags, recipe);
  if (data.note !== undefined) note(data.note);
  const overrides = [
    ...more,
    ...data.overrides,
    ...overridesOf([["policy.from", model, "--model"]]),
    ...reporterOverrides(reporter),
  ];
  const resolved = await settingsOf({ ...flags, recipe }, overrides, data.assumed);
  const { dataset: train, evaluation } = resolved.settings;
  await noteAnswers([train, evaluation.dataset], { note });
  return { resolved, out: out ?? `${defaultRunFolder(resolved)}${suffix}` };
}

/** A training started by a command. */
export interface ShownTraining<R> {
  flags: TrainingFlags;
  resolved: ResolvedSettings<Settings>;
  /** Run folder. */
  out: string;
  train: (session: Session) => Promise<R>;
  /** For --json. */
  json: (result: R, wallSeconds: number) => unknown;
  text: (result: R, wallSeconds: number) => Printed;
}

/**
 * Trains with all output: live view or lines, keys, downloads, and the result on stdout. If the user ends it early, a note says how to
 * continue.
 */
export async function showTraining<R>(
  context: CliContext,
  { flags, resolved, out, train, json, text }: ShownTraining<R>,
): Promise<void> {
  const { openRunControl } = await import("../run/folder/run-control.ts");
  const { recipe, tier, settings } = resolved;
  const use = folderUseOf(flags);
  const control = openRunControl();
  const download = watchDownload(context);
  // Before the live view, which leaves no room for its progress.
  const { makeBases } = await import("../run/bases.ts");
  await makeBases(settings, { ...download.options, signal: context.signal });
  const watch = await watchTraining(context, {
    resolved,
    out,
    control,
    plain: flags.plain === true,
    resume: use.resume,
  });
  context.note(`${recipe.name}, tier ${tier}, seed ${settings.seed} → ${out}`);
  const begun = performance.now();
  try {
    const result = await train({
      out,
      version: packageVersion(),
      signal: context.signal,
      ...use,
      control,
      ...watch.news,
      download: download.options,
    }).finally(() => {
      download.stop();
      watch.stop();
    });
    const wallSeconds = Math.round((performance.now() - begun) / 100) / 10;
    const isJson = flags.json === true;
    context.out(isJson ? JSON.stringify(json(result, wallSeconds)) : text(result, wallSeconds));
    context.note(nextBlocks(out, resolved.settings, context.call));
  } catch (error) {
    const { MANIFEST_FILE } = await import("../run/folder/run-file.ts");
    // Without a run folder there is nothing to resume, and a wrong setting is wrong again.
    if (existsSync(join(out, MANIFEST_FILE)) && !(error instanceof ConfigError)) {
      const kept = context.signal.aborted
        ? "stopped early and saved"
        : "failed, and its checkpoints are kept";
      context.note(`${out}: ${kept}; \`${context.call} resume ${quoted(out)}\` continues.`);
    }
    throw error;
  }
}

/** The commands that follow a training. */
function nextBlocks(out: string, { environment }: Settings, call: string): Block[] {
  const report = `${call} report ${quoted(out)}`;
  const ask = `${call} ask --policy ${quoted(out)}`;
  return [
    heading("Next:"),
    { kind: "command", does: "curves, figures and rollouts as a page", command: report },
    ...(environment.name === "search-qa"
      ? [{ kind: "command" as const, does: "questions to the trained policy", command: ask }]
      : []),
  ];
}

/**
 * The flag's override: replaces `reporters` of the recipe.
 *
 * @param given the flag's values; undefined if not given.
 * @returns for `settingsOf`, which checks the names and options.
 * @throws {ConfigError} RECIPE_NOT_YAML
 * @example reporterOverrides(["tensorboard"]) // [{ key: "reporters", value: ["tensorboard"], origin: "--reporter" }]
 */
export function reporterOverrides(given: readonly string[] | undefined): Override[] {
  if (given === undefined) return [];
  const value = given.map((text) => parseYamlValue(text, "--reporter"));
  return [{ key: "reporters", value, origin: "--reporter" }];
}
