import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, errorMessage } from "../../base/errors.ts";
import { leavesOf } from "../../base/leaves.ts";
import { quote } from "../../base/schema.ts";
import { recordOutcome, type RunOutcome } from "../../watch/run-outcome.ts";
import type { SettingEffect } from "../../base/setting-effect.ts";
import { loadRecipe, tiersOf } from "../settings/recipe-file.ts";
import { originOfRun, type RunOrigin, type RunCommand } from "./run-origin.ts";
import { MANIFEST_FILE, RESOLVED_FILE } from "./run-origin.ts";
import { restoreReplaced, setRunAside } from "./replaced-run.ts";
import { endedAsAsked } from "./run-control.ts";
import { withRunLock } from "./run-lock.ts";
import { effectOf, type Settings, settingsSchema } from "../settings/settings-schema.ts";
import { checkSettings, resolveSettings, type ResolvedSettings } from "../settings/settings.ts";

/** What is done about a run that a folder holds already. */
export interface RunFolderUse {
  /** Go on from its newest checkpoint. */
  resume?: boolean;
  /** Remove it and begin anew. */
  overwrite?: boolean;
}

interface ClaimOptions {
  /** Whose settings a run goes on under: the run's own, or its stages', each of which is done again where they changed. */
  settingsOf?: "run" | "stages";
}

/** A run that wants a folder. */
interface RunClaim {
  out: string;
  command: RunCommand;
  resolved: ResolvedSettings<Settings>;
  use: RunFolderUse & ClaimOptions;
}

/**
 * Runs `work` as the only one that writes a run's folder, once that is free, or what it holds is to be gone on with or removed. How it
 * ended is written to the folder. What is to be removed is set aside until the new run has begun, and comes back where it does not.
 *
 * @throws {ConfigError} RUN_EXISTS when there is a run and neither is wanted, when it is another command's that is to be gone on with, and
 *   over a synthesis always; RUN_SETTINGS_CHANGED when a run would go on under other settings than it began with. How long it lasts,
 *   what is kept and who is told may change.
 * @throws {ExternalError} RUN_BUSY when another process writes the folder.
 */
export function withClaimedRun<T>(
  claim: RunClaim & { signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const { out, signal } = claim;
  return withRunLock(out, async () => {
    await restoreReplaced(out);
    await claimRun(claim);
    let result: T;
    try {
      await recordOutcome(out, null);
      result = await work();
    } catch (error) {
      // Whatever it was, it did not begin: what it was to replace is as it was.
      if (await restoreReplaced(out)) throw error;
      // What was refused before it began leaves nothing. Why it ended matters, not that this could not be written.
      if (existsSync(join(out, MANIFEST_FILE)))
        await recordOutcome(out, outcomeOf(error, signal)).catch(() => undefined);
      throw error;
    }
    await recordOutcome(out, { state: "finished", message: null });
    return result;
  });
}

/** How a run ended that threw: one that has nothing left to do was finished before. */
function outcomeOf(error: unknown, signal: AbortSignal): RunOutcome {
  if (error instanceof ConfigError && error.code === "RUN_NOTHING_LEFT")
    return { state: "finished", message: null };
  const [message = ""] = errorMessage(error).split("\n");
  return { state: endedAsAsked(error, signal) ? "interrupted" : "failed", message };
}

async function claimRun({ out, command, resolved, use }: RunClaim): Promise<void> {
  const { resume = false, overwrite = false, settingsOf = "run" } = use;
  const begun = await originOfRun(out);
  if (begun === null) return;
  if (begun.command === "synth-data") {
    throw new ConfigError(
      "RUN_EXISTS",
      `${out}: holds draws of agentrl synth-data, and what they were made with, which a run of agentrl ${command} there would replace. Name another folder by --out.`,
    );
  }
  if (resume) {
    requireSameCommand(begun, { out, command });
    const counts = settingsOf === "run" ? toldBySettings(begun) : isOfWholeRun;
    await requireSameSettings(out, resolved, counts);
    return;
  }
  if (!overwrite) {
    throw new ConfigError(
      "RUN_EXISTS",
      `${out}: already holds a run. Go on with it by --resume, name another folder by --out, or replace it by --overwrite.`,
    );
  }
  await setRunAside(out);
}

/** Checkpoints of one command say nothing to another: its steps are other steps, its moments those of another loss. */
function requireSameCommand(
  begun: RunOrigin,
  { out, command }: Omit<RunClaim, "use" | "resolved">,
) {
  if (begun.command === null || begun.command === command) return;
  throw new ConfigError(
    "RUN_EXISTS",
    `${out}: holds a run of agentrl ${begun.command}, which agentrl ${command} cannot go on with. Name another folder by --out, or replace it by --overwrite.`,
  );
}

/** Settings that may change on --resume: those that cannot change a step's result. */
const FREE: ReadonlySet<SettingEffect> = new Set(["length", "place", "rollback", "bookkeeping"]);
const NAMED = 5;

/** What settings alone tell of: a policy whose checksum the manifest has may lie elsewhere. */
function toldBySettings({ hashes }: RunOrigin): (key: string) => boolean {
  return (key) => key !== "policy.from" || hashes["policy"] === undefined;
}

/** Of a run in stages: what its own evaluations go by. Its stages compare the rest. */
function isOfWholeRun(key: string): boolean {
  return /^(in stages$|seed$|policy\.|evaluation\.)/.test(key);
}

async function requireSameSettings(
  out: string,
  { settings }: ResolvedSettings<Settings>,
  counts: (key: string) => boolean,
): Promise<void> {
  const path = join(out, RESOLVED_FILE);
  // Interrupted before its settings were written, it has done nothing.
  if (!existsSync(path)) return;
  const recipe = await loadRecipe(path);
  const [tier = "mini"] = tiersOf(recipe);
  const before = checkSettings(settingsSchema, resolveSettings(recipe, { tier })).settings;
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
    `${out}: began under other settings (${[...listed, ...more].join("; ")}), so what would come is no run of either. Resume it with those that it began with (${path}), or begin anew in another folder.`,
  );
}

/** Values as JSON, by dotted key, and whether a run is one of stages. */
function valuesOf(settings: Settings): Map<string, string> {
  const values = new Map(
    [...leavesOf(settings)]
      .filter(([, value]) => value !== undefined)
      .map(([keys, value]) => [keys.join("."), JSON.stringify(value)] as const),
  );
  return values.set("in stages", JSON.stringify(settings.stages !== undefined));
}

function shown(json: string | undefined): string {
  return json === undefined ? "not set" : quote(JSON.parse(json));
}
