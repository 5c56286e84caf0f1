import type { EvaluationProgress } from "../../evaluate/evaluate.ts";
import type { EvaluationSummary } from "../../evaluate/evaluation-summary.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import type { RewardCheckFacts } from "../check-rewards.ts";
import type { LoadedPairs } from "../sft/preference-data.ts";
import type { LoadedSamples } from "../sft/sft-data.ts";
import type { Stage } from "../settings/stages.ts";

/** What was read of a file of samples; those that were left out by name. */
export interface SampleFacts extends Omit<LoadedSamples, "samples"> {
  samples: number;
}

/** What was read of a file of pairs. */
export interface PairFacts extends Omit<LoadedPairs, "pairs"> {
  pairs: number;
}

/** The data that a run learns from. */
export type LearnedData =
  | { kind: "samples"; train: SampleFacts; validation: SampleFacts | null }
  | { kind: "pairs"; train: PairFacts };

/** A finished step, as `metrics.jsonl` has it. */
export interface RunStep {
  /** From 1. */
  step: number;
  totalSteps: number;
  /** By the field's names, `group/snake_case`; the same for the same seed. */
  metrics: Readonly<Record<string, number>>;
  /** Timings, `tokensPerSecond` among them. */
  timing: Readonly<Record<string, number>>;
  /** Of a step that learned from its own rollouts. */
  trajectories: readonly Trajectory[];
}

/** What a run reports to a caller that shows it. Callbacks are synchronous: a run never waits for its display. */
export interface RunEvents {
  /** Before anything else; null: the recipe switches the check off. */
  onRewardCheck(check: RewardCheckFacts | null): void;
  /** Once the data is read. */
  onData(data: LearnedData, totalSteps: number): void;
  /** @param name `before`, `after`, or the step after which the policy is evaluated: `step-40`; of a set, `transfer/after`. @param answers draws of all questions. */
  onEvaluationStart(name: string, answers: number): void;
  onEvaluationProgress(progress: Pick<EvaluationProgress, "done" | "em">): void;
  onEvaluation(name: string, evaluation: EvaluationSummary): void;
  /** A measurement of held-out samples or pairs. */
  onValidation(step: number, metrics: Readonly<Record<string, number>>): void;
  /** Before each stage of a recipe with stages. @param kept an earlier run has finished it. */
  onStage(stage: Stage, total: number, kept: boolean): void;
  /** Of a stage that draws. `total` is null where it is not known. */
  onStageProgress(progress: { done: number; total: number | null; note: string }): void;
  /** Between a step's rollouts and its update. @param step from 1. */
  onBatch(trajectories: readonly Trajectory[], step: number): void;
  onStep(step: RunStep): void;
  /** A line of `events.jsonl`. */
  onEvent(event: RunEvent): void;
}
