import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { readJson, removeAtOnce, writeJson } from "../base/files.ts";
import { leavesOf } from "../base/leaves.ts";
import { suggest } from "../base/nearest.ts";
import { pluginHashes } from "../base/plugins.ts";
import { shortHash } from "../evaluate/fingerprint.ts";
import { type Stage, stageList } from "./settings/stages.ts";
import { effectOf, type Settings, settingsSchema } from "./settings/settings-schema.ts";
import {
  isOfRecipe,
  type Override,
  type ResolvedSettings,
  withOverrides,
} from "./settings/settings.ts";

/** A stage as its own settings say, ready to run. */
export interface PlannedStage {
  stage: Stage;
  /** `stages/2-sft` below the run's folder. */
  folder: string;
  resolved: ResolvedSettings<Settings>;
}

/** What came of a stage: a line of `stages.json`. */
export interface StageOutcome {
  number: number;
  name: string;
  do: Stage["do"];
  folder: string;
  /** Folder of the policy that it left; null where it trained none. */
  policy: string | null;
  /** Numbers that claims may name. */
  facts: Record<string, unknown>;
}

/** A finished stage and the settings that it ran under. */
interface FinishedStage extends StageOutcome {
  settings: string;
}

export interface RunStagesOptions {
  out: string;
  /** Keeps finished stages and continues the interrupted one. */
  resume: boolean;
  /** Replaces the folders of stages. A run that failed in its first stage has such a folder, but is not yet a run that could be set aside. */
  overwrite?: boolean;
  /** Called before each stage, and once for each that is taken over (`kept`). */
  onStage?: (stage: Stage, total: number, kept: boolean) => void;
  /** @param resume whether its folder may hold the beginning of it. */
  run: (planned: PlannedStage, resume: boolean) => Promise<Pick<StageOutcome, "policy" | "facts">>;
}

const STAGES_FILE = "stages.json";

/**
 * Runs a recipe's stages in order, each in a folder of its own and from the policy and the draws that it names. What each did is
 * written as soon as it is done.
 *
 * @returns what came of each, and the policy that the last one trained; null where none did.
 * @throws {ConfigError} RECIPE_BAD_VALUE when a stage names a policy or draws that no earlier one made.
 */
export async function runStages(
  resolved: ResolvedSettings<Settings>,
  { out, resume, overwrite = false, onStage, run }: RunStagesOptions,
): Promise<{ stages: StageOutcome[]; policy: string | null }> {
  const stages = stageList(resolved.settings.stages ?? []);
  checkReferences(resolved, stages);
  const file = join(out, STAGES_FILE);
  const known = resume && existsSync(file) ? ((await readJson(file)) as FinishedStage[]) : [];
  const [first] = known;
  // Paths are recorded relative to the old name of the run's folder; a moved folder is the same run.
  const then = first === undefined ? out : dirname(dirname(first.folder));
  const done: FinishedStage[] = [];
  // After the first stage that must run again, later results are stale; only that stage may continue a partial folder.
  let goesOn = resume;
  for (const stage of stages) {
    const planned = planStage(resolved, stage, { out, done });
    const { folder } = planned;
    const settings = settingsHash(ownSettings(planned));
    const before = goesOn ? known[done.length] : undefined;
    const settingsThen = (): string => {
      const was = planStage(resolved, stage, { out: then, done: known.slice(0, done.length) });
      return settingsHash(ownSettings(was));
    };
    const isDone =
      before !== undefined &&
      existsSync(folder) &&
      before.do === stage.do &&
      basename(before.folder) === basename(folder) &&
      before.settings === settingsThen();
    onStage?.(stage, stages.length, isDone);
    if (isDone) {
      const policy = before.policy === null ? null : movedPath(before.policy, then, out);
      done.push({ ...before, folder, policy, settings });
      continue;
    }
    // The synthesis itself detects draws under other settings; it may only have to select again.
    const isBegun = goesOn && existsSync(folder) && (before === undefined || stage.do === "synth");
    goesOn = false;
    // Hours of training may be in a finished stage that other settings make anew.
    if (known[done.length] !== undefined && !isBegun && !overwrite) await setAside(folder);
    if ((resume || overwrite) && !isBegun) await removeAtOnce(folder);
    // From here on this stage and all later ones count as not done.
    if (known.length > done.length) await writeJson(file, done);
    const outcome = await runOrAgain(planned, isBegun, run);
    const { number, name } = stage;
    done.push({ number, name, do: stage.do, folder, ...outcome, settings });
    await writeJson(file, done);
  }
  const outcomes = done.map(({ settings: _, ...outcome }): StageOutcome => outcome);
  return {
    stages: outcomes,
    policy: outcomes.findLast(({ policy }) => policy !== null)?.policy ?? null,
  };
}

/** What of a recipe belongs to one kind of stage; the other kinds do not read it. */
const OWN_BLOCKS: Record<Stage["do"], keyof Settings> = {
  synth: "synth",
  sft: "sft",
  preference: "preference",
  train: "algorithm",
};

/** A stage's settings without what belongs to other kinds of stage: a longer training does not change the fine-tuning before it. */
function ownSettings({ stage, resolved }: PlannedStage): Partial<Settings> {
  const others = new Set<string>(Object.values(OWN_BLOCKS));
  others.delete(OWN_BLOCKS[stage.do]);
  return Object.fromEntries(Object.entries(resolved.settings).filter(([key]) => !others.has(key)));
}

/** Suffix of a finished stage's folder that was made anew under other settings. */
const REPLACED = ".replaced";

/** Renames a finished stage's folder; the one set aside before is removed. */
async function setAside(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  await removeAtOnce(folder + REPLACED);
  await rename(folder, folder + REPLACED);
}

/** A path below one folder, below another; others stay. */
function movedPath(path: string, from: string, to: string): string {
  const inside = relative(from, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : join(to, inside);
}

/** What a stage was done under; what is kept of it, and who watches, changes nothing of what it makes. */
export function settingsHash(settings: Partial<Settings>): string {
  const decisive = Object.entries(settings).filter(
    ([key]) => !["rollback", "bookkeeping"].includes(effectOf(key)),
  );
  return shortHash({ ...Object.fromEntries(decisive), ...pluginHashes(settings) });
}

/**
 * A stage that had ended when it was interrupted, before that was written down, has nothing left to do: it is run anew, which gives
 * the same.
 */
async function runOrAgain(
  planned: PlannedStage,
  resume: boolean,
  run: RunStagesOptions["run"],
): ReturnType<RunStagesOptions["run"]> {
  try {
    return await run(planned, resume);
  } catch (error) {
    if (!resume || !(error instanceof ConfigError) || error.code !== "RUN_NOTHING_LEFT")
      throw error;
    await rm(planned.folder, { recursive: true });
    return run(planned, false);
  }
}

/** A stage's own settings: those of the recipe, its own on top, and the folders of what it builds on. */
function planStage(
  resolved: ResolvedSettings<Settings>,
  stage: Stage,
  { out, done }: { out: string; done: readonly StageOutcome[] },
): PlannedStage {
  const origin = stageOrigin(stage);
  const overrides = ownOverrides(resolved, stage, done);
  const trained = done.filter(({ policy }) => policy !== null);
  const from =
    stage.from === "last" ? trained.at(-1) : trained.findLast(({ name }) => name === stage.from);
  if (stage.from !== "start" && from?.policy != null)
    overrides.push({ key: "policy.from", value: from.policy, origin });
  if (stage.do === "sft" || stage.do === "preference") {
    const value = drawsOf(stage, done);
    if (value !== undefined) overrides.push({ key: `${stage.do}.data`, value, origin });
  }
  const own = withOverrides(settingsSchema, resolved, overrides);
  // As a recipe of its own it is this stage alone.
  const { stages: _, ...settings } = own.settings;
  return {
    stage,
    folder: join(out, "stages", `${stage.number}-${stage.name}`),
    resolved: { ...own, settings },
  };
}

/** The folders of the draws that a stage learns from: one, or of several names a list. */
function drawsOf({ data }: Stage, done: readonly StageOutcome[]): string | string[] | undefined {
  const drawn = done.filter((each) => each.do === "synth");
  if (data === undefined) return drawn.at(-1)?.folder;
  const folderOf = (wanted: string) => drawn.findLast(({ name }) => name === wanted)?.folder;
  return typeof data === "string" ? folderOf(data) : data.flatMap((name) => folderOf(name) ?? []);
}

/** Whether the recipe file has written the stages, rather than a flag. */
function hasRecipeStages(resolved: ResolvedSettings<Settings>): boolean {
  return [...resolved.origins].every(
    ([key, origin]) =>
      !key.startsWith("stages.") || origin === "default" || isOfRecipe(resolved, origin),
  );
}

/**
 * A stage's `set`. A text with `{name}`, the folder of the latest stage of that name, starts from the run's folder; other paths start from
 * the recipe's.
 */
export function ownOverrides(
  resolved: ResolvedSettings<Settings>,
  stage: Stage,
  done: readonly StageOutcome[],
): Override[] {
  const origin = stageOrigin(stage);
  const isOfRecipe = hasRecipeStages(resolved);
  return Object.entries(stage.set).flatMap(([key, value]) => {
    const inFolders = [...leavesOf(value)].flatMap(([keys, leaf]): Override[] => {
      const text = typeof leaf === "string" ? withFolders(leaf, done) : leaf;
      if (text === leaf) return [];
      return [
        { key: [key, ...keys].join("."), value: text, origin: `${origin}: ${leaf as string}` },
      ];
    });
    return [{ key, value, origin, isOfRecipe }, ...inFolders];
  });
}

function stageOrigin({ number, name }: Stage): string {
  return `stage ${number} (${name})`;
}

/** Braces around anything but the name of a finished stage stay. */
function withFolders(text: string, done: readonly StageOutcome[]): string {
  return text.replace(/\{([a-z][a-z0-9-]*)\}/g, (whole, name: string) => {
    return done.findLast((each) => each.name === name)?.folder ?? whole;
  });
}

/** Before the first stage runs: every name that a stage uses is that of an earlier one. */
function checkReferences({ recipe }: ResolvedSettings<Settings>, stages: readonly Stage[]): void {
  stages.forEach((stage, i) => {
    const before = stages.slice(0, i);
    const trained = before.filter((each) => each.do !== "synth").map(({ name }) => name);
    const drawn = before.filter((each) => each.do === "synth").map(({ name }) => name);
    const refuse = (key: string, value: string, known: readonly string[]): never => {
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `${recipe.path}: stage ${stage.number} (${stage.name}): ${key} is "${value}", which no stage before it made. ${suggest(value, known)}`,
      );
    };
    if (!["start", "last", ...trained].includes(stage.from))
      refuse("from", stage.from, ["start", "last", ...trained]);
    const missing = [stage.data ?? []].flat().find((name) => !drawn.includes(name));
    if (missing !== undefined) refuse("data", missing, drawn);
  });
}
