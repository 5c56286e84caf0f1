import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { DataError, errorMessage } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import {
  GAMES_FILE,
  kindOfStages,
  readRunFile,
  RESOLVED_FILE,
  RUN_FILE,
  SEVERAL,
} from "../../run/folder/run-file.ts";
import { readRunEvaluations, type RunEvaluation } from "./run-evaluations.ts";
import { type LoggedEvent, type MetricsRow, readRunEvents, readRunMetrics } from "./run-metrics.ts";
import { readRunSettings, type RunSettings } from "./run-settings.ts";
import { type KnownState, type RunKind, stateOf, updatedMs } from "./run-state.ts";

const manifestSchema = z.looseObject({
  agentrl: z.string().optional(),
  recipe: z.string().optional(),
  tier: z.string().optional(),
  /** Total steps, if the settings alone do not give them. */
  steps: z.int().optional(),
  hashes: z.record(z.string(), z.unknown()).default({}),
  machine: z.record(z.string(), z.unknown()).default({}),
});

/** Versions, data and machine of a run. */
export type RunManifest = z.output<typeof manifestSchema>;

/** The content of a run's folder, which is never written to. */
export interface RunFiles {
  folder: string;
  kind: RunKind;
  manifest: RunManifest;
  settings: RunSettings | null;
  metrics: MetricsRow[];
  events: LoggedEvent[];
  evaluations: RunEvaluation[];
  /** Evaluations of `evaluation.sets`. */
  sets: RunEvaluation[];
  /** Completed steps, and total steps if known before the end. */
  steps: { done: number; planned: number | null };
  state: KnownState;
  /** Milliseconds since 1970. */
  updatedMs: number;
  /** Of a staged run: its started stages, in order. */
  stages: RunFiles[];
  /** Unreadable files, a sentence each. */
  troubles: string[];
}

/** Whether a folder looks like a run's: it has a log, settings, or stages. Played games have settings, too. */
export function isRunFolder(folder: string): boolean {
  if (existsSync(join(folder, GAMES_FILE))) return false;
  return [RUN_FILE, RESOLVED_FILE, "metrics.jsonl", "stages.json"].some((name) =>
    existsSync(join(folder, name)),
  );
}

/**
 * Reads the existing files of a run's folder: a run may be unfinished, interrupted, or from an older version.
 *
 * @param isStageDone for a stage: whether its run recorded it as done.
 * @throws {DataError} FILE_MISSING when the folder is no run.
 */
export async function readRun(folder: string, isStageDone = false): Promise<RunFiles> {
  if (!isRunFolder(folder))
    throw new DataError(
      "FILE_MISSING",
      `${folder}: is no run: it has neither run.json nor recipe.resolved.yaml nor metrics.jsonl. Give the --out folder of a command, such as agentrl train or eval; agentrl runs list FOLDER finds runs.`,
    );
  const troubles: string[] = [];
  const tried = async <T>(what: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await what;
    } catch (error) {
      troubles.push(errorMessage(error));
      return otherwise;
    }
  };
  const manifest = await tried(readManifest(folder), emptyManifest());
  const settings = await tried(readRunSettings(folder), null);
  const metrics = await tried(readRunMetrics(join(folder, "metrics.jsonl")), []);
  const events = await tried(readRunEvents(folder), []);
  const result = await tried(readResult(folder), null);
  const recorded = await tried(readRunFile(folder), null);
  const kind =
    recorded === null
      ? kindBefore(folder, { manifest, settings, metrics })
      : kindOfStages(recorded);
  const done = Math.max(metrics.at(-1)?.step ?? 0, result?.steps ?? 0);
  const none = { evaluations: [], sets: [], troubles: [] };
  const { evaluations, sets, ...found } = await tried(readRunEvaluations(folder, done), none);
  troubles.push(...found.troubles);
  const stages = await readStages(folder);
  const own = await updatedMs(folder);
  const updated = Math.max(own, ...stages.map((stage) => stage.updatedMs));
  const state: KnownState = isStageDone
    ? { state: "finished", message: null }
    : await stateOf(folder, { kind, events });
  return {
    folder,
    kind,
    manifest,
    settings,
    metrics,
    events,
    stages,
    troubles,
    state,
    evaluations,
    sets,
    steps: { done, planned: result?.steps ?? manifest.steps ?? plannedSteps(kind, settings) },
    updatedMs: updated,
  };
}

function emptyManifest(): RunManifest {
  return manifestSchema.parse({});
}

async function readManifest(folder: string): Promise<RunManifest> {
  const file = join(folder, "manifest.json");
  const parsed = manifestSchema.safeParse(await readJson(file));
  if (parsed.success) return parsed.data;
  throw new DataError("FILE_NOT_JSON", `${file}: is no run's manifest.`);
}

/** Result of supervised training, once it has ended. */
async function readResult(folder: string): Promise<{ steps: number } | null> {
  const file = join(folder, "sft.json");
  if (!existsSync(file)) return null;
  const parsed = z.looseObject({ steps: z.int() }).safeParse(await readJson(file));
  return parsed.success ? parsed.data : null;
}

/** The started stages; finished ones are recorded in the run. */
async function readStages(folder: string): Promise<RunFiles[]> {
  const place = join(folder, "stages");
  const names = (existsSync(place) ? await readdir(place) : []).filter((name) =>
    /^\d+-/.test(name),
  );
  names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  const recorded = await readRunFile(folder);
  const finished = recorded?.filter(({ done }) => done) ?? (await stagesBefore(folder));
  const done = new Set(finished.map((stage) => basename(stage.folder)));
  const stages: RunFiles[] = [];
  for (const name of names) {
    const own = join(place, name);
    if (isRunFolder(own)) stages.push(await readRun(own, done.has(name)));
  }
  return stages;
}

/** Finished stages of a run of an older version. */
async function stagesBefore(folder: string): Promise<{ folder: string }[]> {
  const path = join(folder, "stages.json");
  const list = existsSync(path) ? await readJson(path).catch(() => []) : [];
  return z
    .array(z.looseObject({ folder: z.string() }))
    .catch([])
    .parse(list);
}

/** The kind of a run without `run.json`, which older versions did not write. */
function kindBefore(
  folder: string,
  { manifest, settings, metrics }: Pick<RunFiles, "manifest" | "settings" | "metrics">,
): RunKind {
  const has = (prefix: string): boolean =>
    [...(settings?.values.keys() ?? [])].some((key) => key.startsWith(prefix));
  const measured = new Set(metrics.flatMap(({ values }) => Object.keys(values)));
  const { hashes } = manifest;
  const isStaged = ["stages", "stages.json"].some((name) => existsSync(join(folder, name)));
  if (isStaged) return SEVERAL;
  if (existsSync(join(folder, "synth.json")) || existsSync(join(folder, "draws.jsonl")))
    return "synth";
  if (measured.has("rollout/reward_mean")) return "train";
  if (measured.has("losses/sft")) return "sft";
  if (measured.has("losses/preference") || "pairs" in hashes) return "preference";
  if ("samples" in hashes) return "sft";
  // Draws, samples and pairs may be from one stage that was run alone.
  if (has("stages.") && metrics.length === 0) return SEVERAL;
  if (has("algorithm.")) return "train";
  return has("sft.") ? "sft" : "train";
}

/** Planned steps, if the settings give them. Older runs have `sft.stages` instead of `sft.curriculum`. */
function plannedSteps(kind: RunKind, settings: RunSettings | null): number | null {
  const values = settings?.values ?? new Map<string, unknown>();
  if (kind === "train") return wholeNumber(values.get("algorithm.steps"));
  if (kind !== "sft") return null;
  const phases = [...values].flatMap(([key, value]) =>
    /^sft\.(?:curriculum|stages)\.\d+\.steps$/.test(key) && typeof value === "number"
      ? [value]
      : [],
  );
  return phases.length === 0 ? null : phases.reduce((sum, steps) => sum + steps, 0);
}

function wholeNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) ? value : null;
}

/** Subfolders of a run that are not searched; stages are read with their run. */
const INSIDE = new Set([
  ...["checkpoints", "snapshots", "trajectories", "eval", "stages", "policy", "rolled-back"],
]);

/**
 * The folders of all runs in a folder, itself included; links are not followed.
 * @throws {DataError} FILE_MISSING when there is no such folder.
 */
export async function findRuns(folder: string): Promise<string[]> {
  if (!existsSync(folder))
    throw new DataError(
      "FILE_MISSING",
      `${folder}: there is no such folder. agentrl train, sft and dpo write runs to runs/ or --out; give that folder.`,
    );
  const found: string[] = [];
  await gather(folder, found);
  return found;
}

async function gather(folder: string, found: string[]): Promise<void> {
  const isRun = isRunFolder(folder);
  if (isRun) found.push(folder);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name === "node_modules" || entry.name.startsWith("."))
      continue;
    if (!(isRun && INSIDE.has(entry.name))) await gather(join(folder, entry.name), found);
  }
}
