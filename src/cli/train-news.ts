import type { EvaluationSummary } from "../evaluate/evaluation-summary.ts";
import type { RewardCheckFacts } from "../recipe/check-rewards.ts";
import type { Stage } from "../recipe/stages.ts";
import type { OnPolicyStep } from "../train/on-policy.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { RunEvent } from "../watch/run-event.ts";

/** What a recipe tells of itself while it runs, to whoever watches at the command line. */
export interface TrainNews {
  onRewardCheck(check: RewardCheckFacts | null): void;
  /** @param name `before`, `after`, or the step that it was asked for after: `step-40`. */
  onEvaluationStart(name: string, questions: number): void;
  onEvaluationProgress(progress: { done: number; em: number }): void;
  onEvaluation(name: string, evaluation: EvaluationSummary): void;
  /** @param kept done by an earlier run. */
  onStage(stage: Stage, total: number, kept: boolean): void;
  /** Of a stage that draws, or learns from draws. `total` is null where it is not known. */
  onStageProgress(progress: { done: number; total: number | null; note: string }): void;
  /** Between a step's rollouts and its update. @param step from 1. */
  onBatch(trajectories: readonly Trajectory[], step: number): void;
  onStep(step: OnPolicyStep & { totalSteps: number }): void;
  onEvent(event: RunEvent): void;
}

/** Shows a training to people while it runs. */
export interface TrainWatch {
  readonly news: TrainNews;
  /** Takes away what would be overwritten, and gives the terminal back; may be called again. */
  readonly stop: () => void;
}
