import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import type { LocalEngine } from "../../engine/local/local-engine.ts";
import type { SftStep } from "../../train/sft.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import type { PolicyDownload } from "../assemble.ts";
import type { Checkpoint } from "../folder/checkpoints.ts";
import type { RunFolderUse } from "../folder/claim-run.ts";
import type { LoadedSamples } from "./sft-data.ts";
import { METRICS_FILE, readMetrics } from "../folder/metrics-log.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";

/** What was read of a file of samples; those that were left out by name. */
export interface SampleFacts extends Omit<LoadedSamples, "samples"> {
  samples: number;
}

/** A measurement on the way. */
export interface SftCheck {
  /** Optimiser steps before it. */
  step: number;
  /** Mean negative log-likelihood of the held-out samples' tokens, nats; null where there are none. */
  loss: number | null;
  /** Exact match on held-out questions; null where none are asked. */
  em: number | null;
}

/** What a run tells whoever watches it. */
export interface SftObserver {
  onStep?: (step: SftStep & { totalSteps: number; seconds: number }) => void;
  /** Once the samples are read. */
  onSamples?: (facts: {
    train: SampleFacts;
    validation: SampleFacts | null;
    totalSteps: number;
  }) => void;
  onCheck?: (check: SftCheck & { seconds: number }) => void;
  /** What is written to `events.jsonl`. */
  onEvent?: (event: RunEvent) => void;
}

export interface RunSftOptions extends SftObserver, RunFolderUse {
  /** Run folder. */
  out: string;
  /** agentrl's version, for the manifest. */
  version: string;
  signal: AbortSignal;
  /** When the policy is one of the hub. */
  download?: PolicyDownload;
}

export interface SftResult {
  /** Folder of the policy alone, in half precision. */
  policy: string;
  /** That the policy was made of. */
  checkpoint: string;
  /** Steps done in all. */
  steps: number;
  /** Mean loss of the last step's tokens, nats; null where no step was left. */
  loss: number | null;
  /** Whether it ended before its last step, because held-out data were learned no better. */
  stoppedEarly: boolean;
  /** What was learned from and measured on; null: a stream. */
  samples: { train: SampleFacts; validation: SampleFacts | null } | null;
  /** Measurements at the start, at the end, and of the policy that was kept; null where there are none. */
  validation: { before: SftCheck; last: SftCheck; kept: SftCheck } | null;
}

/** A run under way. */
export interface SftSession {
  resolved: ResolvedSettings<Settings>;
  options: RunSftOptions;
  engine: LocalEngine;
  /** Folder that the policy was read from. */
  model: string;
  /** The checkpoint that it goes on from. */
  from: Checkpoint | null;
  /** What there is to tell once its folder is open. */
  events: readonly RunEvent[];
}

/** Where a run leaves what came of it: the last file that it writes. */
export function resultFile(out: string): string {
  return join(out, "sft.json");
}

/**
 * Refuses to go on with a run that has nothing to do.
 * @param finished whether its last step is done.
 * @throws {ConfigError} RUN_NOTHING_LEFT
 */
export function requireWork(
  { options: { out }, from }: SftSession,
  finished: boolean,
  totalSteps: number,
): void {
  if (!finished || !existsSync(resultFile(out))) return;
  throw new ConfigError(
    "RUN_NOTHING_LEFT",
    `${out}: its newest checkpoint is step ${from?.step ?? 0} of ${totalSteps}; nothing is left to do. Raise sft.epochs (or the steps of its stages), or evaluate ${join(out, "policy")}.`,
  );
}

/** The loss of the last step that is written; null where there is none. */
export async function lastLoss(out: string): Promise<number | null> {
  let loss: number | null = null;
  for await (const { metrics } of readMetrics(join(out, METRICS_FILE)))
    loss = metrics["losses/sft"] ?? loss;
  return loss;
}
