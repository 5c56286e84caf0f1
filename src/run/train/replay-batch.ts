import { existsSync } from "node:fs";
import { join } from "node:path";
import { deferring } from "../../base/deferring.ts";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readJsonl } from "../../base/jsonl.ts";
import type { Engine } from "../../engine/engine.ts";
import { ADAPTER_CONFIG } from "../../models/lora/adapter-folder.ts";
import { readsReference } from "../../algorithms/index.ts";
import { trainOnPolicy } from "../../algorithms/on-policy.ts";
import { mismatchKl } from "../../algorithms/rollout-metrics.ts";
import { asSampled, policyRows } from "../../algorithms/training-rows.ts";
import { readTrajectory } from "../../trajectory/lint/lint-shape.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import {
  openEngine,
  openNamedDataset,
  type PolicyDownload,
  policyFolder,
  requireTrainable,
} from "../assemble.ts";
import { newestCheckpoint } from "../folder/checkpoints.ts";
import { METRICS_FILE, readMetrics } from "../folder/metrics-log.ts";
import { isCurrent, type Rollback, rollbacksOf } from "../folder/rollbacks.ts";
import { pluginData, requireSameData, samePolicyHash } from "../folder/same-data.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { StageSession } from "../stages/stage.ts";
import { type AssembledRun, assembleOnPolicyRun } from "./on-policy-run.ts";

/** Result of recomputing a step's update from its batch. */
export interface BatchReplay {
  /** From 1. */
  step: number;
  /** Whole steps done in the checkpoint begun from; 0: the policy that the run began with. */
  from: number;
  /** The step's metrics as the run logged them; null where it did not get so far. */
  logged: Readonly<Record<string, number>> | null;
  /** As they came now: to the last bit the same under the same settings on the same machine. */
  replayed: Readonly<Record<string, number>>;
  /** KL(policy that sampled ‖ policy after the step's updates) on the batch, k3 per token, nats: how far the step went. */
  klAfter: number;
}

export interface ReplayOptions {
  /** Run folder; only read. */
  run: string;
  /** From 1. */
  step: number;
  signal: AbortSignal;
  download?: PolicyDownload;
}

/**
 * Recomputes one step's update of a run: starts from the newest checkpoint before it and applies the saved batches in order, without
 * sampling. Other algorithm settings show their effect on the same trajectories; rewards are the saved ones.
 *
 * @param recipe the run's settings, or others: they hold for every step from the checkpoint on.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no `algorithm`; REPLAY_NO_BATCH when a batch is not there; RUN_DATA_CHANGED,
 *   RUN_SETTINGS_CHANGED when the policy is another one than the run's, or other weights of it are trained.
 * @throws {DataError} REPLAY_NO_BATCH when one is damaged.
 */
export async function replayBatch(
  { record, settings }: Pick<StageSession, "record" | "settings">,
  { run, step, signal, download }: ReplayOptions,
): Promise<BatchReplay> {
  const { algorithm } = settings;
  if (algorithm === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${record.path}: has no "algorithm", so it has no batches to replay.`,
    );
  }
  requireTrainable(settings);
  const rollbacks = await rollbacksOf(run);
  const from = await newestCheckpoint(run, {
    isCurrent: (each) => each.step < step && isCurrent(each, rollbacks),
  });
  const first = (from?.step ?? 0) + 1;
  requireBatches(run, { first, last: step });
  const model = await policyFolder(settings.policy.from, { ...download, signal });
  await samePolicyHash(model, run, { ...download, signal });
  await requireSameData(run, "a plugin", pluginData(settings));
  return deferring(async (defer) => {
    const engine = await openEngine(settings, model);
    defer(() => engine.close());
    if (from !== null) requireSameWeights(from.path, engine.capabilities.adapters);
    // As the run itself does: the reference is what it began with.
    if (readsReference(algorithm)) await engine.snapshot("reference");
    if (from !== null) await engine.load(from.path);
    const train = await openNamedDataset(settings.dataset, settings.environment);
    const assembled = await assembleOnPolicyRun(settings, {
      algorithm,
      engine,
      train,
      model,
      signal,
      questions: false,
    });
    defer(() => assembled.close());
    const stretch = { run, first, last: step, settings, rollbacks };
    const learned = await learnAgain(assembled.run, stretch);
    return { step, from: from?.step ?? 0, logged: await loggedOf(run, step), ...learned };
  });
}

/** Adapters cannot be loaded in place of a whole model, nor the other way round. @throws {ConfigError} RUN_SETTINGS_CHANGED */
function requireSameWeights(checkpoint: string, asksForAdapters: boolean): void {
  const hasAdapters = existsSync(join(checkpoint, ADAPTER_CONFIG));
  if (hasAdapters === asksForAdapters) return;
  const held = hasAdapters ? "adapters" : "a whole model";
  const advice = hasAdapters ? "Give the policy.lora that the run has" : "Leave policy.lora out";
  throw new ConfigError(
    "RUN_SETTINGS_CHANGED",
    `${checkpoint}: holds ${held}, and the settings ask for ${asksForAdapters ? "adapters" : "a whole model"}. ${advice}.`,
  );
}

interface Stretch {
  run: string;
  first: number;
  last: number;
  settings: Settings;
  rollbacks: readonly Rollback[];
}

/** One step at a time: the learning rate of each is that of the way it was done on. */
async function learnAgain(
  training: AssembledRun["run"],
  { run, first, last, settings, rollbacks }: Stretch,
): Promise<Pick<BatchReplay, "replayed" | "klAfter">> {
  let replayed: Record<string, number> = {};
  let batch: Trajectory[] = [];
  for (let step = first; step <= last; step++) {
    batch = await batchOf(run, step);
    // Of several returns to before a step, it was last done after the last.
    const returns = rollbacks.findLastIndex(({ to }) => to < step) + 1;
    await trainOnPolicy({
      ...training,
      // A run may be replayed past the end that other settings give it.
      options: { ...training.options, steps: Math.max(training.options.steps, step) },
      firstStep: step - 1,
      learningRateFactor: settings.rollback.learningRateFactor ** returns,
      batchOf: () => Promise.resolve(batch),
      onStep: ({ metrics }) => {
        replayed = metrics;
        return Promise.resolve(false);
      },
    });
  }
  return { replayed, klAfter: await klTo(training.engine, batch) };
}

async function klTo(
  engine: Pick<Engine, "logprobs">,
  batch: readonly Trajectory[],
): Promise<number> {
  const rows = batch
    .flatMap((trajectory) => policyRows(trajectory, { role: "policy" }))
    .filter(({ trainedTokens }) => trainedTokens > 0);
  return mismatchKl(rows, await engine.logprobs(rows.map((row) => asSampled(row, 1))));
}

function batchFile(run: string, step: number): string {
  return join(run, "trajectories", `step-${step}.jsonl`);
}

function requireBatches(run: string, { first, last }: { first: number; last: number }): void {
  for (let step = first; step <= last; step++) {
    if (existsSync(batchFile(run, step))) continue;
    throw new ConfigError(
      "REPLAY_NO_BATCH",
      `--replay-batch ${last}: ${batchFile(run, step)} is missing; the batches of steps ${first} to ${last} are needed, from the newest checkpoint before. Name a step that the run has done, and its folder by --out.`,
    );
  }
}

async function batchOf(run: string, step: number): Promise<Trajectory[]> {
  const file = batchFile(run, step);
  const batch: Trajectory[] = [];
  for await (const { value, line } of readJsonl(file)) {
    const read = readTrajectory(value);
    if ("problem" in read) {
      throw new DataError(
        "REPLAY_NO_BATCH",
        `${file}:${line}: is no trajectory (${read.problem}). Replay a step after a later checkpoint, or before this one.`,
      );
    }
    batch.push(read.trajectory);
  }
  return batch;
}

async function loggedOf(run: string, step: number): Promise<BatchReplay["logged"]> {
  let logged: BatchReplay["logged"] = null;
  for await (const line of readMetrics(join(run, METRICS_FILE)))
    if (line.step === step) logged = line.metrics;
  return logged;
}
