import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { Policy } from "../../rollout/policy.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";

/** What scorers ask. */
export interface ScorerResources {
  policy: Policy;
  environment: Environment;
  seed: number;
}

/** Says something of a drawn trajectory that needs the teacher's model or a search; kept with it under the names that it gives. */
export interface SampleScorer extends PartWithOptions {
  readonly source: string;
  /** Names of the scores that it gives. */
  readonly gives: readonly string[];
  /** @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS where the teacher cannot tell what it must know. */
  open(options: Record<string, unknown>, resources: ScorerResources): OpenedScorer;
}

export interface OpenedScorer {
  /** Scores that cannot be told (the context is full, the trajectory failed) are left out. */
  score(task: Task, trajectory: Trajectory, signal: AbortSignal): Promise<Record<string, number>>;
}
