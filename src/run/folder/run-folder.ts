import { mkdir } from "node:fs/promises";
import { cpus, platform, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { errorMessage, ExternalError } from "../../base/errors.ts";
import { writeFileAtomic, writeJson } from "../../base/files.ts";
import { openJsonl } from "../../base/jsonl.ts";
import { leavesOf } from "../../base/leaves.ts";
import { milliseconds } from "../../base/waits/deadlines.ts";
import { setDiskDeadline } from "../../base/waits/disk.ts";
import { waits } from "../../base/waits/waits.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { EvaluationSummary } from "../../evaluate/evaluation-summary.ts";
import { openReporters } from "../../watch/reporters/open-reporters.ts";
import type { Reporter, RunStart } from "../../watch/reporters/reporter.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import { checkpointFolder } from "./checkpoints.ts";
import { MANIFEST_FILE, type RunStage, writeRunFile } from "./run-file.ts";
import type { RewardCheckFacts } from "../check-rewards.ts";
import { keepLines, METRICS_FILE } from "./metrics-log.ts";
import type { RunRecord } from "../settings/resolved-yaml.ts";
import { removeReplaced } from "./replaced-run.ts";
import { endedAsAsked } from "./run-control.ts";
import type { Settings } from "../settings/settings-schema.ts";

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
  /** Whole steps done, as far as they are written. */
  readonly lastStep: number;
  /** Writes one line of `events.jsonl`, with the time, and calls `onEvent`. */
  event(event: RunEvent): Promise<void>;
  /** Takes back what was written of later steps than one: `setAside` is done while no file is open. */
  rewind(toStep: number, setAside: () => Promise<void>): Promise<void>;
  /** Writes `eval/<name>.json`, and its rows, one line each, to `eval/<name>.rows.jsonl`. */
  evaluation(name: string, summary: EvaluationSummary, rows: readonly unknown[]): Promise<void>;
}

/** What a run folder's manifest says of a run. */
export interface RunFacts {
  version: string;
  /** For `run.json`; null where the run has written it. */
  stages: readonly RunStage[] | null;
  hashes?: Readonly<Record<string, string>>;
  /** What came of the check of the rewards; null: it was switched off. */
  rewardCheck?: RewardCheckFacts | null;
  /** To be done in all. */
  steps?: number;
  /** Metrics of later steps are dropped: 0 for a new run, the checkpoint's step for a resumed one. */
  afterStep?: number;
}

/** A run whose folder is opened. */
export interface RunToOpen {
  engine: Pick<PolicyEngine, "machine">;
  /** Of the folder. */
  out: string;
  settings: Settings;
  record: RunRecord;
  facts: RunFacts;
  /** The events that come first. */
  events?: readonly RunEvent[];
  /** Told of everything that is written to `events.jsonl`. */
  onEvent?: ((event: RunEvent) => void) | undefined;
  signal: AbortSignal;
}

/** A run folder that is being written. */
export interface OpenRunFolder extends RunFolder {
  /** @param error what ended the run; undefined: it is finished. */
  close(error: unknown): Promise<void>;
}

/**
 * Makes the folder of a run of an engine and writes what is known at the start. While it is open, reporters get the run's news, and a
 * long wait for anything is an event.
 * @throws {ExternalError} FILE_WRITE_FAILED
 * @throws {ConfigError} when a reporter's setting is wrong that only the environment shows.
 */
export async function openRunFolder(opening: RunToOpen): Promise<OpenRunFolder> {
  const { out: path, settings, record, facts: given, onEvent, signal } = opening;
  const { noticeSeconds, diskSeconds } = settings.deadlines;
  setDiskDeadline(milliseconds(diskSeconds));
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
  const metricsFile = join(path, METRICS_FILE);
  let lastStep = Math.max(0, given.afterStep ?? 0);
  await keepLines(metricsFile, given.afterStep ?? 0);
  let log = await openJsonl(metricsFile, { durable: true });
  const events = await openJsonl(join(path, "events.jsonl"));
  const start = startOf(opening, lastStep);
  const closeFiles = async (): Promise<void> => {
    await log.close();
    await events.close();
  };
  const reporter = await openReporters(settings.reporters, start, (message) => {
    const event = { kind: "reporter", step: lastStep, message, facts: {} } as const;
    run.event(event).catch(() => undefined);
  }).catch(async (error: unknown) => {
    await closeFiles();
    throw error;
  });
  const run: RunFolder = {
    path,
    get lastStep() {
      return lastStep;
    },
    async metrics(step, data, timing) {
      lastStep = step;
      reporter.metrics(step, data, timing);
      await log.append({ step, data, timing });
    },
    async event(event) {
      onEvent?.(event);
      reporter.event(event);
      await events.append({ at: new Date().toISOString(), ...event });
    },
    async rewind(toStep, setAside) {
      await log.close();
      await setAside();
      await keepLines(metricsFile, toStep);
      log = await openJsonl(metricsFile, { durable: true });
      lastStep = toStep;
    },
    trajectories: async (step, trajectories) => {
      const lines = trajectories.map((each) => `${JSON.stringify(each)}\n`).join("");
      await writeFileAtomic(join(path, "trajectories", `step-${step}.jsonl`), lines);
    },
    checkpoint: (step) => checkpointFolder(path, step),
    evaluation: async (name, summary, rows) => {
      const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
      await mkdir(dirname(join(path, "eval", name)), { recursive: true });
      await writeFileAtomic(join(path, "eval", `${name}.rows.jsonl`), lines);
      await writeJson(join(path, "eval", `${name}.json`), summary);
      reporter.evaluation(name, /(^|\/)before$/.test(name) ? 0 : lastStep, { ...summary.metrics });
    },
  };
  const close: Reporter["close"] = async (outcome) => {
    // It may have trouble to tell.
    await reporter.close(outcome);
    await closeFiles();
  };
  try {
    // From here on there is a run.
    const { version, stages, hashes = {}, rewardCheck, steps } = given;
    // What was chosen, where the recipe says auto or nothing: results depend on both in their last bits.
    const { machine } = opening.engine;
    const manifest = { hashes, rewardCheck, steps, machine };
    await startRun(path, record, { version, stages, manifest });
  } catch (error) {
    await close("failed");
    throw error;
  }
  const watch = waits.watch({
    noticeMs: noticeSeconds * 1000,
    onLong: (message, waiting) => {
      const event = { kind: "waiting", step: lastStep, message, facts: { ...waiting } } as const;
      // Nobody waits for the line that somebody is waiting.
      run.event(event).catch(() => undefined);
    },
  });
  const open: OpenRunFolder = Object.assign(run, {
    close: (error: unknown) => {
      watch.close();
      if (error === undefined) return close("finished");
      return close(endedAsAsked(error, signal) ? "interrupted" : "failed");
    },
  });
  try {
    for (const event of opening.events ?? []) await open.event(event);
  } catch (error) {
    await open.close(error);
    throw error;
  }
  return open;
}

/**
 * Writes what a folder's run is: its recipe, its stages, and last its manifest. From then on there is a run, and the one that it
 * replaces is removed.
 * @param run.stages null: `run.json` is written already.
 * @param run.manifest what the manifest says beside version, recipe, tier and machine; more of the machine is added to it.
 */
export async function startRun(
  path: string,
  record: RunRecord,
  run: {
    version: string;
    stages: readonly RunStage[] | null;
    manifest?: { machine?: object; [key: string]: unknown };
  },
): Promise<void> {
  const { version, stages, manifest } = run;
  const { recipe, tier } = record;
  await record.writeRecipe(path);
  if (stages !== null) await writeRunFile(path, stages);
  const machine = { ...machineFacts(), ...manifest?.machine };
  await writeJson(join(path, MANIFEST_FILE), {
    agentrl: version,
    recipe,
    tier,
    ...manifest,
    machine,
  });
  await removeReplaced(path);
}

/** The run as reporters see it. */
function startOf({ settings: given, record, facts, out }: RunToOpen, afterStep: number): RunStart {
  const settings = [...leavesOf(given)].map(([keys, value]) => [keys.join("."), value]);
  return {
    recipe: record.recipe,
    tier: record.tier,
    version: facts.version,
    out,
    afterStep,
    settings: Object.fromEntries(settings) as Record<string, unknown>,
  };
}

/** What a manifest says of the machine that a run was on. */
export function machineFacts(): Record<string, unknown> {
  return {
    node: process.version,
    platform: `${platform()}-${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
  };
}
