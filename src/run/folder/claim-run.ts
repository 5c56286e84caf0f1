import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError, errorMessage } from "../../base/errors.ts";
import { leavesOf } from "../../base/leaves.ts";
import { withAbsolutePaths } from "../../base/setting-path.ts";
import { quote } from "../../base/schema.ts";
import { recordOutcome, type RunOutcome } from "../../watch/run-outcome.ts";
import type { SettingEffect } from "../../base/setting-effect.ts";
import { loadRecipe, tiersOf } from "../settings/recipe-file.ts";
import { MANIFEST_FILE, originOfRun, RESOLVED_FILE, type RunOrigin, SEVERAL } from "./run-file.ts";
import { restoreReplaced, setRunAside } from "./replaced-run.ts";
import { endedAsAsked } from "./run-control.ts";
import { removeRemains, SNAPSHOTS_FOLDER } from "./whole-folder.ts";
import { withRunLock } from "./run-lock.ts";
import type { StageHead } from "../settings/stage-heads.ts";
import { effectOf, type Settings, settingsSchema } from "../settings/settings-schema.ts";
import { loadSettings, resolveSettings } from "../settings/settings.ts";

/** How to handle an existing run in a folder. */
export interface RunFolderUse {
  /** Resume from its newest checkpoint. */
  resume?: boolean;
  /** Remove it and start a new run. */
  overwrite?: boolean;
}

/** A run that claims a folder. */
interface RunClaim {
  out: string;
  /** The stage that the folder is for; a run of several is `stages`. */
  stage: Pick<StageHead, "name" | "resumesBy">;
  settings: Settings;
  use: RunFolderUse;
}

/**
 * Runs `work` as the only writer of a run's folder, if that is free, or its run is to be resumed or replaced. The outcome is written to the
 * folder. A replaced run is moved aside until the new run has started, and restored if it does not start.
 *
 * @throws {ConfigError} RUN_EXISTS when the folder has a run and neither `--resume` nor `--overwrite` is given, when `--resume` meets another
 *   stage's run, and always over draws and measured rows; RUN_SETTINGS_CHANGED when `--resume` comes with settings that can change a
 *   step's result.
 * @throws {ExternalError} RUN_BUSY when another process writes the folder.
 */
export function withClaimedRun<T>(
  claim: RunClaim & { signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const { out, signal } = claim;
  return withRunLock(out, async () => {
    await restoreReplaced(out);
    await removeRemainsOfRun(out);
    await claimRun(claim);
    let result: T;
    try {
      await recordOutcome(out, null);
      result = await work();
    } catch (error) {
      // The new run failed before it started, so the old run was restored.
      if (await restoreReplaced(out)) throw error;
      // A run that was refused before its start leaves nothing. A failure to write the outcome must not hide the reason for the end.
      if (existsSync(join(out, MANIFEST_FILE)))
        await recordOutcome(out, outcomeOf(error, signal)).catch(() => undefined);
      throw error;
    }
    await recordOutcome(out, { state: "finished", message: null });
    return result;
  });
}

/** Also of a run that has nothing left to do: no later step would remove them. */
async function removeRemainsOfRun(out: string): Promise<void> {
  const snapshots = join(out, SNAPSHOTS_FOLDER);
  const names = await readdir(snapshots).catch(() => []);
  const inside = names.map((name) => join(snapshots, name));
  for (const folder of [out, join(out, "checkpoints"), join(out, "stages"), ...inside])
    await removeRemains(folder);
}

/** How a run ended that threw: one that has nothing left to do was finished before. */
function outcomeOf(error: unknown, signal: AbortSignal): RunOutcome {
  if (error instanceof ConfigError && error.code === "RUN_NOTHING_LEFT")
    return { state: "finished", message: null };
  const [message = ""] = errorMessage(error).split("\n");
  return { state: endedAsAsked(error, signal) ? "interrupted" : "failed", message };
}

async function claimRun({ out, stage, settings, use }: RunClaim): Promise<void> {
  const { resume = false, overwrite = false } = use;
  const begun = await originOfRun(out);
  if (begun === null) return;
  const isSame = begun.kind === null || begun.kind === stage.name;
  const keepsRows = begun.kind === "synth" || begun.kind === "evaluate";
  if (!isSame && (resume || keepsRows || stage.resumesBy === "itself")) {
    throw new ConfigError(
      "RUN_EXISTS",
      `${out}: contains a run of the stage ${begun.kind ?? ""}, which ${stage.name} cannot continue. Choose another folder with --out${keepsRows ? "" : ", or replace it with --overwrite"}.`,
    );
  }
  // It refuses to mix what it made under other settings by its own hashes.
  if (stage.resumesBy === "itself") return;
  if (resume) {
    const counts = stage.name === SEVERAL ? isOfWholeRun : toldBySettings(begun);
    await requireSameSettings(out, settings, counts);
    return;
  }
  if (!overwrite) {
    throw new ConfigError(
      "RUN_EXISTS",
      `${out}: already contains a run. Continue it with --resume, choose another folder with --out, or replace it with --overwrite.`,
    );
  }
  await setRunAside(out);
}

/** Settings that may change on --resume: those that cannot change a step's result. */
const FREE: ReadonlySet<SettingEffect> = new Set(["length", "place", "rollback", "bookkeeping"]);
const NAMED = 5;

/** What settings alone tell of: a policy whose checksum the manifest has may lie elsewhere. */
function toldBySettings({ hashes }: RunOrigin): (key: string) => boolean {
  return (key) => key !== "policy.from" || hashes["policy"] === undefined;
}

/** For a run with stages: the settings of its own evaluations. Its stages compare the rest. */
function isOfWholeRun(key: string): boolean {
  return /^(in stages$|seed$|policy\.|evaluation\.)/.test(key);
}

async function requireSameSettings(
  out: string,
  settings: Settings,
  counts: (key: string) => boolean,
): Promise<void> {
  const path = join(out, RESOLVED_FILE);
  // A run interrupted before its settings were written has done nothing.
  if (!existsSync(path)) return;
  const recipe = await loadRecipe(path);
  const [tier = "mini"] = tiersOf(recipe);
  const recorded = resolveSettings(recipe, { tier });
  const before = (await loadSettings(settingsSchema, recorded)).settings;
  const [then, now] = [valuesOf(before), valuesOf(settings)];
  const changed = [...new Set([...then.keys(), ...now.keys()])].filter(
    (key) => counts(key) && !FREE.has(effectOf(key)) && then.get(key) !== now.get(key),
  );
  if (changed.length === 0) return;
  const listed = changed
    .slice(0, NAMED)
    .map((key) => `${key}: ${shown(then.get(key))} → ${shown(now.get(key))}`);
  const more = changed.length > NAMED ? [`${changed.length - NAMED} more`] : [];
  throw new ConfigError(
    "RUN_SETTINGS_CHANGED",
    `${out}: started with other settings (${[...listed, ...more].join("; ")}), so it cannot continue with these. Resume it with its own settings (${path}), or start a new run in another folder.`,
  );
}

/** Values as JSON, by dotted key, and whether a run is one of stages. */
function valuesOf(settings: Settings): Map<string, string> {
  const values = new Map(
    [...leavesOf(withAbsolutePaths(settingsSchema, settings))]
      .filter(([, value]) => value !== undefined)
      .map(([keys, value]) => [keys.join("."), JSON.stringify(value)] as const),
  );
  return values.set("in stages", JSON.stringify(settings.stages !== undefined));
}

function shown(json: string | undefined): string {
  return json === undefined ? "not set" : quote(JSON.parse(json));
}
