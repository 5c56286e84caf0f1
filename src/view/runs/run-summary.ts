import { existsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { readJson } from "../../base/files.ts";
import { quoted } from "../../base/format.ts";
import { z } from "../../base/schema.ts";
import type { RunFiles } from "./run-files.ts";
import type { LoggedEvent } from "./run-metrics.ts";
import { isOverride } from "./run-settings.ts";
import type { KnownState, RunKind } from "./run-state.ts";

/** Summary of a run in one line. */
export interface RunSummary {
  /** Last part of its path. */
  name: string;
  path: string;
  kind: RunKind;
  recipe: string | null;
  tier: string | null;
  seed: number | null;
  steps: RunFiles["steps"];
  state: KnownState["state"];
  /** Reason or evidence of the state. */
  stateMessage: string | null;
  /** Exact match on held-out questions; null if not measured. */
  em: { before: number | null; after: number | null };
  /** ISO time of the last write. */
  updatedAt: string;
  /** Bytes on disk, stages included. */
  bytes: number;
  stages: RunSummary[];
  /** Unreadable files, a sentence each. */
  troubles: string[];
}

/** A run in one line. */
export async function summaryOf(run: RunFiles): Promise<RunSummary> {
  const { folder, kind, manifest, settings, steps, state, troubles } = run;
  const seed = settings?.values.get("seed");
  return {
    name: basename(folder),
    path: folder,
    kind,
    recipe: manifest.recipe ?? settings?.recipe ?? null,
    tier: manifest.tier ?? settings?.tier ?? null,
    seed: typeof seed === "number" ? seed : null,
    steps,
    state: state.state,
    stateMessage: state.message,
    em: await heldOutEm(run),
    updatedAt: new Date(run.updatedMs).toISOString(),
    bytes: await folderBytes(folder),
    stages: await Promise.all(run.stages.map(summaryOf)),
    troubles,
  };
}

const checkSchema = z.looseObject({ em: z.number().nullable() });
const resultSchema = z.looseObject({
  validation: z.looseObject({ before: checkSchema, kept: checkSchema }).nullable(),
});

async function heldOutEm({ folder, evaluations }: RunFiles): Promise<RunSummary["em"]> {
  const of = (name: string): number | null =>
    evaluations.find((each) => each.name === name)?.metrics["em"] ?? null;
  const file = join(folder, "sft.json");
  if (existsSync(file)) {
    const result = resultSchema.safeParse(await readJson(file).catch(() => null));
    const validation = result.success ? result.data.validation : null;
    if (validation !== null) return { before: validation.before.em, after: validation.kept.em };
  }
  return { before: of("before") ?? of("step-0"), after: of("after") };
}

/** A checkpoint that a run keeps. */
interface RunCheckpoint {
  step: number;
  path: string;
  bytes: number;
  /** Whether its last file exists; otherwise the run ended while writing it. */
  complete: boolean;
}

/** Bytes of all files below a folder, links not followed; files deleted meanwhile count as 0. */
async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return folderBytes(path);
      return lstat(path).then(
        ({ size }) => size,
        () => 0,
      );
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The checkpoints in a run's folder, by step. */
export async function readRunCheckpoints(folder: string): Promise<RunCheckpoint[]> {
  const place = join(folder, "checkpoints");
  const names = existsSync(place) ? await readdir(place) : [];
  const checkpoints = await Promise.all(
    names.flatMap((name) => {
      const [, step] = /^step-(\d+)$/.exec(name) ?? [];
      return step === undefined ? [] : [checkpointAt(join(place, name), Number(step))];
    }),
  );
  return checkpoints.sort((a, b) => a.step - b.step);
}

async function checkpointAt(path: string, step: number): Promise<RunCheckpoint> {
  // Step 0 of a run with fresh weights has only the policy.
  const last = step === 0 ? "config.json" : "training-state.json";
  return { step, path, bytes: await folderBytes(path), complete: existsSync(join(path, last)) };
}

/** Summary and details of a run. */
export interface RunDetail extends RunSummary {
  /** agentrl that made it. */
  version: string | null;
  hashes: Readonly<Record<string, unknown>>;
  machine: Readonly<Record<string, unknown>>;
  /** Every setting by dotted key. */
  settings: { key: string; value: unknown; origin: string | null; overrides: boolean }[];
  /** Metrics of the last written step; null before the first. */
  last: { step: number; values: Readonly<Record<string, number>> } | null;
  evaluations: Omit<RunFiles["evaluations"][number], "rows">[];
  checkpoints: RunCheckpoint[];
  events: LoggedEvent[];
  /** The command that continues or evaluates the run; null if unknown. */
  next: { command: string; does: string } | null;
}

/** Reads the details of a run. */
export async function detailOf(run: RunFiles): Promise<RunDetail> {
  const { manifest, settings, metrics, evaluations, sets, events } = run;
  const summary = await summaryOf(run);
  return {
    ...summary,
    version: manifest.agentrl ?? null,
    hashes: manifest.hashes,
    machine: manifest.machine,
    settings: [...(settings?.values ?? [])].map(([key, value]) => {
      const origin = settings?.origins.get(key) ?? null;
      return { key, value, origin, overrides: origin !== null && isOverride(origin) };
    }),
    last: metrics.at(-1) ?? null,
    evaluations: [...evaluations, ...sets].map(({ rows: _, ...own }) => own),
    checkpoints: await readRunCheckpoints(run.folder),
    events,
    next: nextCommand(run),
  };
}

function nextCommand({ folder, kind, state, settings, evaluations }: RunFiles): RunDetail["next"] {
  if (state.state === "running") return null;
  if (state.state === "finished") {
    if (kind !== "synth" && evaluations.length === 0) return null;
    return { command: `agentrl report ${quoted(folder)}`, does: "shows it as a page" };
  }
  if (settings === null) return null;
  return { command: `agentrl resume ${quoted(folder)}`, does: "continues it" };
}
