import type { Engine } from "../engine/engine.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { type OnPolicyAlgorithm, optionsAt } from "./algorithm.ts";
import { rolloutMetrics, staleness } from "./rollout-metrics.ts";
import { openStepRollouts, type RolloutRun, type RolloutState } from "./step-rollouts.ts";
import { updateOn } from "./update.ts";

export type { OnPolicyOptions } from "./algorithm.ts";

/** One step's outcome. */
export interface OnPolicyStep {
  /** From 1. */
  step: number;
  /** By the field's names, `group/snake_case`; the same for the same seed. */
  metrics: Record<string, number>;
  /** Milliseconds by part. Rollouts: only what the update waited for them. */
  timings: { rollout: number; update: number };
  /** Tokens sampled and tokens computed by the trainer. */
  tokens: { sampled: number; trained: number };
  trajectories: Trajectory[];
  /** To continue after this step. */
  state: LoopState;
}

export interface OnPolicyRun extends RolloutRun {
  algorithm: OnPolicyAlgorithm;
  engine: Engine;
  /** Steps already done: a resumed run continues as if it had not stopped. */
  firstStep: number;
  /** As the last of these steps gave it (`OnPolicyStep.state`); null where there is none. */
  state?: LoopState | null;
  /** The learning rate is multiplied by it: below 1 after a rollback. 1 when absent. */
  learningRateFactor?: number;
  /** Before a step's rollouts. @param step from 0. */
  onStepBegin?: (step: number) => Promise<void>;
  /** Between a step's rollouts and its update. @param step from 1. */
  onBatch?: (trajectories: readonly Trajectory[], step: number) => Promise<void>;
  /** @returns whether to continue. */
  onStep(step: OnPolicyStep): Promise<boolean>;
}

/** What a training must remember beside its weights, as JSON: kept with each checkpoint. */
export interface LoopState extends RolloutState {
  /** β of `algorithm.klReward` for the next step; absent without it. */
  klCoef?: number;
}

/**
 * Rollouts, rewards, advantages, update; once per step, until the last or until `onStep` ends it. Everything random derives from the
 * seed and the step's number.
 * @throws {ExternalError} ROLLOUTS_FAILED
 */
export async function trainOnPolicy(run: OnPolicyRun): Promise<void> {
  const { options } = run;
  const rollouts = openStepRollouts(run);
  let klCoef = run.state?.klCoef;
  /** For the next step's rollouts, after an update; ms. */
  let waited = 0;
  for (let step = run.firstStep; step < options.steps; step++) {
    run.signal.throwIfAborted();
    await run.onStepBegin?.(step);
    const begun = performance.now() - waited;
    const { trajectories, sampledTokens, metrics } = await rollouts.batch(step);
    const sampledAt = performance.now();
    const age = staleness(trajectories, run.engine);
    const isOnPolicy = options.maxStepsOffPolicy === 0 && age["rollout/staleness"] === 0;
    const coef = klCoef === undefined ? {} : { klCoef };
    const { update, updatedAt, ...updated } = await rollouts.during(step, async () => {
      await run.onBatch?.(trajectories, step + 1);
      const updateBegun = performance.now();
      const options = optionsAt(run.options, step);
      const updated = await updateOn({ ...run, options, ...coef }, step, trajectories);
      const updatedAt = performance.now();
      return { ...updated, updatedAt, update: updatedAt - updateBegun };
    });
    waited = performance.now() - updatedAt;
    klCoef = updated.klCoef;
    const continues = await run.onStep({
      step: step + 1,
      metrics: {
        ...rolloutMetrics(trajectories),
        "rollout/tokens": sampledTokens,
        ...metrics,
        ...(isOnPolicy ? {} : age),
        ...updated.metrics,
      },
      timings: { rollout: sampledAt - begun, update },
      tokens: { sampled: sampledTokens, trained: updated.trained },
      trajectories,
      state: { ...rollouts.state(), klCoef },
    });
    if (!continues) return;
  }
}
