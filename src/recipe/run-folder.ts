import { mkdir } from "node:fs/promises";
import { cpus, platform, totalmem } from "node:os";
import { join } from "node:path";
import { errorMessage, ExternalError } from "../base/errors.ts";
import { writeFileAtomic, writeJson } from "../base/files.ts";
import { openJsonl } from "../base/jsonl.ts";
import type { LocalEngine } from "../engine/local/local-engine.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { RunEvent } from "../watch/run-event.ts";
import { checkpointFolder } from "./checkpoints.ts";
import type { RewardCheckFacts } from "./check-rewards.ts";
import { keepLines, METRICS_FILE } from "./metrics-log.ts";
import { toYaml } from "./resolved-yaml.ts";
import type { ResolvedSettings } from "./settings.ts";

/** A run as one folder that can be shared: settings, manifest, metrics, trajectories, checkpoints, evaluations. */
export interface RunFolder {
  readonly path: string;
  /** One line of `metrics.jsonl`. Timings stand apart: all else is the same for the same seed. */
  metrics(
    step: number,
    data: Record<string, number>,
    timing: Record<string, number>,
  ): Promise<void>;
  /** One line per trajectory in `trajectories/step-N.jsonl`. */
  trajectories(step: number, trajectories: readonly Trajectory[]): Promise<void>;
  checkpoint(step: number): string;
  /** One line of `events.jsonl`, with the time. */
  event(event: RunEvent): Promise<void>;
  /** Takes back what was written of later steps than one: `setAside` is done while no file is open. */
  rewind(toStep: number, setAside: () => Promise<void>): Promise<void>;
  /** Writes `eval/<name>.json`, and its rows, one line each, to `eval/<name>.rows.jsonl`. */
  evaluation(name: string, summary: unknown, rows: readonly unknown[]): Promise<void>;
  close(): Promise<void>;
}

/** A run's settings, as a recipe of their own. */
export const RESOLVED_FILE = "recipe.resolved.yaml";

/** What a run was made with and on. */
export const MANIFEST_FILE = "manifest.json";

/** What a run folder's manifest says of a run. */
export interface RunFacts {
  version: string;
  hashes?: Readonly<Record<string, string>>;
  /** What came of the check of the rewards; null: it was switched off. */
  rewardCheck?: RewardCheckFacts | null;
  /** Metrics of later steps are dropped: 0 for a new run, the checkpoint's step for a resumed one. */
  afterStep?: number;
}

/**
 * Makes the folder of a run of an engine and writes what is known at the start. Where that fails the engine is closed.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function runFolderOf(
  engine: Pick<LocalEngine, "device" | "workers" | "close">,
  path: string,
  resolved: ResolvedSettings,
  given: RunFacts,
): Promise<RunFolder> {
  try {
    return await openRunFolder(engine, path, resolved, given);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function openRunFolder(
  engine: Pick<LocalEngine, "device" | "workers">,
  path: string,
  resolved: ResolvedSettings,
  given: RunFacts,
): Promise<RunFolder> {
  try {
    for (const folder of ["trajectories", "checkpoints", "eval"]) {
      await mkdir(join(path, folder), { recursive: true });
    }
  } catch (error) {
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${path}: the run folder could not be made (${errorMessage(error)}). Choose another --out.`,
      { cause: error },
    );
  }
  await writeFileAtomic(join(path, RESOLVED_FILE), toYaml(resolved));
  await writeJson(join(path, MANIFEST_FILE), {
    agentrl: given.version,
    recipe: resolved.recipe.name,
    tier: resolved.tier,
    hashes: given.hashes ?? {},
    ...(given.rewardCheck === undefined ? {} : { rewardCheck: given.rewardCheck }),
    machine: {
      ...machineFacts(),
      // What was chosen, where the recipe says auto or nothing: results depend on both in their last bits.
      device: engine.device,
      workers: engine.workers,
    },
  });
  const metricsFile = join(path, METRICS_FILE);
  await keepLines(metricsFile, given.afterStep ?? 0);
  let log = await openJsonl(metricsFile);
  const events = await openJsonl(join(path, "events.jsonl"));
  return {
    path,
    metrics: (step, data, timing) => log.append({ step, data, timing }),
    event: (event) => events.append({ at: new Date().toISOString(), ...event }),
    async rewind(toStep, setAside) {
      await log.close();
      await setAside();
      await keepLines(metricsFile, toStep);
      log = await openJsonl(metricsFile);
    },
    trajectories: async (step, trajectories) => {
      const lines = trajectories.map((each) => `${JSON.stringify(each)}\n`).join("");
      await writeFileAtomic(join(path, "trajectories", `step-${step}.jsonl`), lines);
    },
    checkpoint: (step) => checkpointFolder(path, step),
    evaluation: async (name, summary, rows) => {
      const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
      await writeFileAtomic(join(path, "eval", `${name}.rows.jsonl`), lines);
      await writeJson(join(path, "eval", `${name}.json`), summary);
    },
    async close() {
      await log.close();
      await events.close();
    },
  };
}

/** Writes events and tells of them. */
export async function tellAll(
  run: RunFolder,
  events: readonly RunEvent[],
  onEvent: ((event: RunEvent) => void) | undefined,
): Promise<void> {
  for (const event of events) {
    await run.event(event);
    onEvent?.(event);
  }
}

/** What a manifest says of the machine that a run was on. */
export function machineFacts(): object {
  return {
    node: process.version,
    platform: `${platform()}-${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
  };
}
