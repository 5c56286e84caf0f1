import type { Dataset } from "../../data/datasets.ts";
import type { LocalEngine } from "../../engine/local/local-engine.ts";
import type { OnPolicyStep } from "../../train/on-policy.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import type { PolicyDownload } from "../assemble.ts";
import type { RewardCheckFacts } from "../check-rewards.ts";
import type { RunFolderUse } from "../folder/claim-run.ts";
import type { RecordedEvaluationObserver } from "../held-out-evaluation.ts";
import type { ControlledRun } from "../folder/run-control.ts";
import type { RunFolder } from "../folder/run-folder.ts";
import type { Settings } from "../settings/settings-schema.ts";

/** What a run tells whoever watches it. */
export interface TrainObserver extends RecordedEvaluationObserver {
  /** Before anything else; null: the recipe does without. */
  onRewardCheck?: (check: RewardCheckFacts | null) => void;
  /** A step's trajectories, before anything is learned from them. @param step from 1. */
  onBatch?: (trajectories: readonly Trajectory[], step: number) => void;
  onStep?: (step: OnPolicyStep & { totalSteps: number }) => void;
  /** What is written to `events.jsonl`. */
  onEvent?: (event: RunEvent) => void;
}

export interface RunTrainOptions extends TrainObserver, RunFolderUse {
  /** Run folder. */
  out: string;
  /** Go on where a setting would be ignored. */
  allowIgnored?: boolean;
  /** What somebody who watches may ask for. */
  control?: ControlledRun;
  version: string;
  signal: AbortSignal;
  /** When the policy is one of the hub. */
  download?: PolicyDownload;
}

/** A training under way. */
export interface TrainSession {
  settings: Settings;
  algorithm: NonNullable<Settings["algorithm"]>;
  options: RunTrainOptions;
  run: RunFolder;
  engine: LocalEngine;
  train: Dataset;
  held: Dataset;
  /** Folder that the policy was read from. */
  model: string;
  /** Whether it goes on from a checkpoint. */
  resumed: boolean;
}
