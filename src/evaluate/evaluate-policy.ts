import { seedFrom } from "../base/random.ts";
import type { Environment } from "../env/environments/environment.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Sampling } from "../rollout/sampling.ts";
import { type NamedStrategy, openStrategy } from "../rollout/strategies/named-strategy.ts";
import { evaluate, type EvaluationRun } from "./evaluate.ts";
import type { EvaluationSummary } from "./evaluation-summary.ts";

export interface EvaluatePolicyOptions extends EvaluationRun {
  policy: Policy;
  environment: Environment;
  /** An inference strategy, with its options or by its name alone. */
  strategy: NamedStrategy;
  sampling: Sampling;
  /** Milliseconds; without it trajectories carry no timings. */
  clock?: () => number;
}

/**
 * Evaluates a policy in an environment.
 *
 * What each question gives depends on the seed, its id and the number of the draw, not on the other questions.
 *
 * @throws {ConfigError} PART_UNKNOWN when there is no such strategy.
 * @throws as `evaluate`.
 */
export async function evaluatePolicy(options: EvaluatePolicyOptions): Promise<EvaluationSummary> {
  const { policy, environment, strategy: named, sampling, clock, ...run } = options;
  const strategy = openStrategy(named, "strategy");
  return evaluate(
    (task, sample, signal) =>
      strategy.run({
        ...{ policy, environment, task, sampling, signal },
        id: `${task.id}/${sample}`,
        groupId: task.id,
        purpose: "eval",
        seed: seedFrom(run.seed, "eval", task.id, sample),
        ...(clock === undefined ? {} : { clock }),
      }),
    run,
  );
}
