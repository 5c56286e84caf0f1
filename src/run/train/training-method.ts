import type { Dataset } from "../../data/dataset.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import type { MetricsLine } from "../../watch/metrics-line.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import type { RewardCheckFacts } from "../check-rewards.ts";
import type { Checkpoint } from "../folder/checkpoints.ts";
import type { RunFolder } from "../folder/run-folder.ts";
import type { RunStage } from "../folder/run-file.ts";
import type { StageSession } from "../stages/stage.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { RunStep } from "./run-events.ts";

/** A way to train a policy: reinforcement learning, samples, pairs. `runTraining` does all that the methods share. */
export interface TrainingMethod<R> {
  /** For `run.json`. */
  stages: readonly RunStage[];
  /** What is learned from, for messages: `samples`. */
  learnsFrom: string;
  /** The setting that makes a run longer, for messages. */
  length: string;
  /** Whether it may start from fresh weights (`policy.fresh`). */
  trainsFresh?: boolean;
  /** Reads the data and opens the engine. */
  open(start: TrainingStart): Promise<OpenTraining<R>>;
}

/** Where a run starts. */
export interface TrainingStart {
  session: StageSession;
  /** Folder of the policy that the run began with. */
  model: string;
  /** Checkpoint to resume from; null: a new run. */
  from: Checkpoint | null;
  /** The driver closes it. */
  openEngine: () => Promise<PolicyEngine>;
}

/** A method with its data and engine, ready to train. */
export interface OpenTraining<R> {
  engine: PolicyEngine;
  totalSteps: number;
  /** Checksums for the manifest, by name; a resumed run must have the same. null: none of this kind. */
  data: Readonly<Record<string, { file: string; sha256: string } | null>>;
  /** Held-out questions, where the method has opened them. */
  held?: Dataset;
  rewardCheck?: RewardCheckFacts | null;
  /** Warnings to record once the run folder is open. */
  warnings?: readonly RunEvent[];
  /** What the run writes last, in its folder: while one of them is missing, the run is not finished. */
  products: readonly string[];
  /** Weights to write to `policy/` at the end; without it only checkpoints are kept. */
  policy?: { dtype?: "F16" };
  /** The loss needs the log-probabilities of the starting policy. */
  needsReference: boolean;
  /** A fresh view of the run's metrics; the driver adds every line up to the present step. */
  openProgress(): Progress;
  /** Before the checkpoint is loaded: the engine still holds the starting policy. */
  begin?(session: TrainingSession): Promise<void>;
  /** Measures held-out data before the first step, and after a step where `measuresAfter`; null: not due. */
  measure?(session: TrainingSession, step: number): Promise<Record<string, number> | null>;
  /** Measurements have a line of their own in `metrics.jsonl`, after their step's. Else the method adds them to its steps. */
  measuresAfter?: true;
  /** Trains until the last step, or until `afterStep` returns false. */
  train(session: TrainingSession, leg: TrainingLeg): Promise<void>;
  /** Makes the result; the engine holds the policy to keep. */
  finish(session: TrainingSession, end: TrainingEnd): Promise<R>;
}

/** A training run under way. */
export interface TrainingSession {
  settings: Settings;
  options: StageSession;
  run: RunFolder;
  engine: PolicyEngine;
  /** Folder of the policy that the run began with. */
  model: string;
  resumed: boolean;
  /** Held-out questions, opened when they are first needed. */
  held: () => Promise<Dataset>;
}

/** The steps from one checkpoint on. */
export interface TrainingLeg {
  /** Completed steps. */
  firstStep: number;
  /** The state that the last of them gave; undefined: none. */
  state: unknown;
  /** Multiplies the learning rate: below 1 after a rollback. */
  learningRateFactor: number;
  /** @returns whether to continue. */
  afterStep: (outcome: StepOutcome) => Promise<boolean>;
}

/** A finished step. */
export interface StepOutcome extends Pick<RunStep, "step" | "metrics" | "timing"> {
  /** Of a step that learned from its own rollouts. */
  trajectories?: RunStep["trajectories"];
  /** What the method must remember beside the weights to continue after this step, as JSON: kept with each checkpoint. */
  state?: unknown;
}

/** How training ended. */
export interface TrainingEnd {
  /** Completed steps. */
  done: number;
  /** The step whose checkpoint the policy is. */
  kept: number;
  progress: Progress;
  /** Of this process, with everything before and after the steps. */
  seconds: () => number;
}

/** What a run's metrics say about its checkpoints. It depends on the lines alone, so a resumed run decides as an uninterrupted one. */
export interface Progress {
  add(line: MetricsLine): void;
  /** The best checkpoint so far, which is not deleted. */
  readonly best: number | null;
  /** The checkpoint that becomes the policy; null: the last one. */
  readonly kept: number | null;
  /** The checkpoint that a rollback returns to, at most; 0: the start. */
  readonly safe: number;
  /** Whether training has stopped improving and should end. */
  readonly enough: boolean;
}
