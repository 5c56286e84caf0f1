import { mkdir, readdir } from "node:fs/promises";
import { cpus, platform, totalmem } from "node:os";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { errorMessage, ExternalError } from "../base/errors.ts";
import { writeFileAtomic, writeJson } from "../base/files.ts";
import { openJsonl, type JsonlWriter } from "../base/jsonl.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
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
  /** Writes `eval/<name>.json`. */
  evaluation(name: string, result: unknown): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes the folder and writes what is known at the start.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function openRunFolder(
  path: string,
  resolved: ResolvedSettings,
  hashes: Readonly<Record<string, string>>,
  version: string,
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
  await writeFileAtomic(join(path, "recipe.resolved.yaml"), toYaml(resolved));
  await writeJson(join(path, "manifest.json"), {
    agentrl: version,
    recipe: resolved.recipe.name,
    tier: resolved.tier,
    hashes,
    machine: {
      node: process.version,
      platform: `${platform()}-${process.arch}`,
      cpu: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
      memoryBytes: totalmem(),
    },
  });
  const log: JsonlWriter = await openJsonl(join(path, "metrics.jsonl"));
  return {
    path,
    metrics: (step, data, timing) => log.append({ step, data, timing }),
    trajectories: async (step, trajectories) => {
      const lines = trajectories.map((each) => `${JSON.stringify(each)}\n`).join("");
      await writeFileAtomic(join(path, "trajectories", `step-${step}.jsonl`), lines);
    },
    checkpoint: (step) => join(path, "checkpoints", `step-${step}`),
    evaluation: (name, result) => writeJson(join(path, "eval", `${name}.json`), result),
    close: () => log.close(),
  };
}

/** The newest complete checkpoint of a run folder: its path and step; null when there is none. */
export async function newestCheckpoint(
  run: string,
): Promise<{ path: string; step: number } | null> {
  const folder = join(run, "checkpoints");
  if (!existsSync(folder)) return null;
  const steps = (await readdir(folder))
    .map((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? NaN))
    // The state file is written last.
    .filter(
      (step) =>
        !Number.isNaN(step) && existsSync(join(folder, `step-${step}`, "training-state.json")),
    );
  if (steps.length === 0) return null;
  const step = Math.max(...steps);
  return { path: join(folder, `step-${step}`), step };
}
