import { advantageEstimators } from "../advantages/index.ts";
import { type PartWithOptions, definer, partSchema } from "../base/define-part.ts";
import { fixed, resolveSchedules } from "../base/schedule.ts";
import { z } from "../base/schema.ts";
import { affects, allIgnoredWhen, ignoredWhen, isSet, when } from "../base/setting-effect.ts";
import { losses } from "../losses/index.ts";
import type { LossSpec } from "../losses/loss.ts";
import type { CriticSettings } from "./critic.ts";
import { filters } from "./filters/index.ts";
import { klRewardSchema } from "./kl-reward.ts";
import { lossAggregations } from "./loss-aggregation.ts";
import { optimizerSchema } from "./optimizer-settings.ts";
import { samplers } from "./samplers/index.ts";

/** Options that every algorithm of this loop has. */
export const onPolicyShape = {
  /** 0 trains nothing: what an untrained arm of a claim is. */
  steps: fixed(z.int().min(0).default(40).meta(affects("length"))),
  /** Groups per step. */
  promptsPerStep: fixed(z.int().min(1).default(16)),
  /** Trajectories per group (G). */
  groupSize: fixed(z.int().min(1).default(8)),
  /**
   * 1: asynchronous rollouts. Those of a step are sampled while the step before trains, by weights one step older. 0: one after the other.
   * More would hide no more time, since the rollouts of one step already take as long as they can.
   */
  maxStepsOffPolicy: fixed(z.int().min(0).max(1).default(0)),
  /** Which rollouts are made, and what of them is a batch. */
  sampler: partSchema(samplers).prefault("shuffled"),
  /** Groups left out of a batch by their raw scores, one filter after another. */
  filters: z.array(partSchema(filters, {}, { scheduled: true })).default([]),
  /** The advantage estimator with its options; the algorithm's own when absent. */
  advantage: partSchema(advantageEstimators, {}, { scheduled: true }).optional(),
  /** The loss with its options; the algorithm's own when absent. */
  loss: partSchema(losses, {}, { scheduled: true }).optional(),
  /** Passes over each batch. */
  epochs: fixed(z.int().min(1).default(1)),
  /** Optimiser steps per epoch: the batch is dealt into so many parts, by trajectory. */
  minibatches: fixed(z.int().min(1).default(1)),
  lossAggregation: z.enum(lossAggregations).default("token-mean"),
  /** L of fixed-length-mean, tokens. */
  fixedLength: fixed(z.int().min(1).default(512)).meta(
    ignoredWhen({
      lossAggregation: when("is not fixed-length-mean", (it) => it !== "fixed-length-mean"),
    }),
  ),
  /** Whose tokens are trained. Anything but the policy's alone is a control. */
  lossOn: z
    .array(z.enum(["policy", "environment", "template", "inserted"]))
    .min(1)
    .default(["policy"]),
  /** Tags of the policy's own blocks whose tokens are not trained, such as memory. A control. */
  lossOutside: z.array(z.string().min(1)).default([]),
  /** Old log-probabilities of the ratio: as sampled, or computed again before the first update (verl). */
  oldLogprobs: z
    .enum(["sampled", "recomputed"])
    .default("sampled")
    .meta(ignoredWhen({ "loss.ratio": "none" }))
    .meta(ignoredWhen({ ratio: "none", loss: undefined })),
  optimizer: optimizerSchema.prefault({}),
  /** Makes KL to the reference part of the reward, at each of the policy's tokens; absent: it is not. */
  klReward: fixed(klRewardSchema.optional()),
};

export type OnPolicyOptions = z.output<z.ZodObject<typeof onPolicyShape>>;

/** Options of an algorithm's own loss, which the option `loss` replaces. */
export function ownLossShape<S extends z.ZodRawShape>(shape: S): S {
  return allIgnoredWhen(shape, { loss: isSet }, "Make it an option of that loss, if it has it");
}

/** For options that are short for an estimator. */
export const besideAdvantage = ignoredWhen(
  { advantage: isSet },
  "Make it an option of that estimator, if it has it",
);

/** Whether log-probabilities of a batch are computed once more, under the weights that it was sampled with. */
export function recomputesOld({
  oldLogprobs,
  lossOn,
}: Pick<OnPolicyOptions, "oldLogprobs" | "lossOn">): boolean {
  // What the policy did not write was not sampled.
  return oldLogprobs === "recomputed" || lossOn.some((owner) => owner !== "policy");
}

/** What an algorithm page adds to the loop: which advantages, which losses. Options are those of its own schema. */
export interface OnPolicyAlgorithm extends PartWithOptions {
  readonly source: string;
  /** A model that learns the values of states, beside the policy. Absent: none. */
  critic?(options: object): CriticSettings;
  /** The estimator where `advantage` names none. */
  estimator(options: object): NamedPart;
  /** Their gradients add up to one optimiser step. */
  losses(options: object): LossSpec[];
}

/**
 * Makes an algorithm of this loop. Its options are `onPolicyShape` and its own.
 * @throws {ConfigError} PLUGIN_BAD_PART without losses.
 */
export const defineAlgorithm = definer<OnPolicyAlgorithm>()("algorithm", {
  defaults: { source: "" },
  functions: {
    // The recipe's schema has checked the options; schedules may stand in them.
    critic: { at: 0, unchecked: true },
    estimator: { at: 0, unchecked: true, otherwise: { name: "group", options: {} } },
    losses: { at: 0, unchecked: true },
  },
});

/** A part by name, with its options. */
export interface NamedPart {
  name: string;
  options: Readonly<Record<string, unknown>>;
}

/**
 * Options with the number of a step wherever a schedule stands. The learning rate keeps its schedule, which counts optimiser steps.
 * @param step from 0.
 */
export function optionsAt(options: OnPolicyOptions, step: number): OnPolicyOptions {
  const { optimizer, ...rest } = options;
  return { ...(resolveSchedules(rest, step, options.steps) as OnPolicyOptions), optimizer };
}

/** The losses of an algorithm, or the one that a recipe names instead, at a step. */
export function lossesOf(
  algorithm: OnPolicyAlgorithm,
  options: OnPolicyOptions,
  step = 0,
): LossSpec[] {
  const now = optionsAt(options, step);
  if (now.loss === undefined) return algorithm.losses(now);
  const { name, ...rest } = now.loss;
  return [{ name, options: rest }];
}

/** The estimator that a recipe names, or the algorithm's own, at a step. */
export function estimatorOf(
  algorithm: OnPolicyAlgorithm,
  options: OnPolicyOptions,
  step = 0,
): NamedPart {
  const now = optionsAt(options, step);
  if (now.advantage === undefined) return algorithm.estimator(now);
  const { name, ...rest } = now.advantage;
  return { name, options: rest };
}
