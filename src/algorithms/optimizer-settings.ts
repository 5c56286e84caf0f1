import { scheduled, valueAt } from "../base/schedule.ts";
import { z } from "../base/schema.ts";
import type { AdamOptions } from "../autodiff/adamw.ts";

/** AdamW as a recipe sets it; the learning rate may be a schedule over the run's optimiser steps. */
export const optimizerSchema = z.strictObject({
  learningRate: scheduled(z.number().positive()).prefault(1e-4),
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1).default(0.999),
  epsilon: z.number().positive().default(1e-8),
  weightDecay: z.number().nonnegative().default(0),
  /** Largest global gradient norm. */
  gradClipNorm: z.number().positive().default(1),
});

export type OptimizerSettings = z.output<typeof optimizerSchema>;

/**
 * The optimiser's settings at one step.
 * @param step from 0.
 * @param factor multiplies the learning rate: below 1 after a rollback.
 */
export function adamAt(
  settings: OptimizerSettings,
  step: number,
  totalSteps: number,
  factor = 1,
): AdamOptions {
  return { ...settings, learningRate: factor * valueAt(settings.learningRate, step, totalSteps) };
}
