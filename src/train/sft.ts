/**
 * Supervised fine-tuning: the policy learns to write what a teacher wrote.
 *
 * Implements weighted cross-entropy over a stream of trajectories; only the policy's tokens are trained, and, at a small weight,
 * what the environment showed (a small model learns to read sooner). Leaves out: epochs over a fixed file, packing, validation
 * loss. Rows are padded to their neighbours' length, not packed, so no row sees another.
 *
 * Run: agentrl sft --recipe base-policy
 */
import { z } from "../base/schema.ts";
import type { Engine } from "../engine/engine.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { adamAt, optimizerSchema } from "./optimizer-settings.ts";
import { policyRows, weighted, type PolicyRow } from "./training-rows.ts";

export const sftSchema = z.strictObject({
  trajectoriesPerStep: z.int().min(1).default(32),
  /** Weight of the environment's tokens beside the policy's 1. */
  observationWeight: z.number().min(0).max(1).default(0),
  optimizer: optimizerSchema.prefault({}),
});

export type SftSettings = z.output<typeof sftSchema>;

export interface SftStep {
  /** From 1. */
  step: number;
  /** Mean negative log-likelihood of the policy's tokens, nats. */
  loss: number;
  gradNorm: number;
  /** Positions computed, padding left out. */
  tokens: number;
}

/**
 * Trains for a number of steps of a longer run.
 *
 * @param options.trajectories an endless stream.
 * @param options.steps how many; the schedule counts from `firstStep` to `totalSteps`.
 */
export async function trainSft(
  engine: Engine,
  settings: SftSettings,
  options: {
    trajectories: AsyncIterator<Trajectory, undefined>;
    steps: number;
    firstStep: number;
    totalSteps: number;
    signal: AbortSignal;
    onStep(step: SftStep): Promise<void>;
  },
): Promise<void> {
  const last = options.firstStep + options.steps;
  const nextBatch = async (): Promise<PolicyRow[]> => {
    const batch: Trajectory[] = [];
    while (batch.length < settings.trajectoriesPerStep) {
      const next = await options.trajectories.next();
      if (next.done === true) break;
      batch.push(next.value);
    }
    return batch.flatMap((trajectory) => policyRows(trajectory, ["policy"]));
  };
  let coming = nextBatch();
  for (let step = options.firstStep; step < last; step++) {
    options.signal.throwIfAborted();
    const rows = await coming;
    // The teacher writes the next batch while the engine learns from this one.
    if (step + 1 < last) coming = nextBatch();
    const trained = rows.reduce((sum, row) => sum + row.trainedTokens, 0);
    const result = await engine.forwardBackward(
      rows.map((row) => {
        const { fields, ...rest } = weighted(row, 1 / trained);
        const weights = fields.weights.map((weight, i) =>
          row.owners[i] === "environment" ? settings.observationWeight / trained : weight,
        );
        return { ...rest, fields: { weights } };
      }),
      { name: "cross-entropy", options: {} },
    );
    const { gradNorm } = await engine.optimStep(
      adamAt(settings.optimizer, step, options.totalSteps),
    );
    let loss = 0;
    rows.forEach((row, r) => {
      row.lossMask.forEach((mask, i) => (loss -= mask === 0 ? 0 : (result.logprobs[r]?.[i] ?? 0)));
    });
    const tokens = rows.reduce((sum, row) => sum + row.inputs.length, 0);
    await options.onStep({ step: step + 1, loss: loss / trained, gradNorm, tokens });
  }
}
