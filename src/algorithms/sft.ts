/**
 * Supervised fine-tuning: the policy learns to write what a teacher wrote.
 *
 * Implements weighted cross-entropy over samples of a file, for epochs, or over an endless stream of a teacher's trajectories; only the
 * policy's tokens are trained, and, at a small weight, what the environment showed (a small model learns to read sooner). Leaves out:
 * packing (rows are padded to their neighbours' length, which costs less than long packed rows do: docs/adr/0007-no-packing.md), so no
 * row sees another.
 *
 * Run: agentrl sft --recipe NAME --data FOLDER (docs/sft.md), agentrl sft --recipe base-policy
 */
import { choice, z } from "../base/schema.ts";
import { affects } from "../base/setting-effect.ts";
import { isPath } from "../base/setting-path.ts";
import type { Engine } from "../engine/engine.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { adamAt, optimizerSchema } from "./optimizer-settings.ts";
import { type LearnedSample, learnedLogprob, trainingRow } from "./sample-rows.ts";
import { hintUses } from "./student-rows.ts";
import { policyRows, weighted, type PolicyRow } from "./training-rows.ts";

const both = {
  /** Weight of the environment's tokens beside the policy's 1. */
  observationWeight: z.number().min(0).max(1).default(0),
  optimizer: optimizerSchema.prefault({}),
};

/** Training on a stream. */
export const sftStreamSchema = z.strictObject({
  trajectoriesPerStep: z.int().min(1).default(32),
  ...both,
});

export type SftStreamSettings = z.output<typeof sftStreamSchema>;

/** How often held-out samples are looked at, and what follows. They are also measured at the start and at the end. */
const validationSchema = z
  .strictObject({
    everySteps: z.int().min(1).default(20),
    /** Held-out questions of `evaluation` that are answered each time, from the start; 0: none. */
    questions: z.int().min(0).default(0),
    /** By what checkpoints are compared: the loss of the held-out samples, or exact match on the questions. */
    metric: z.enum(["loss", "em"]).default("loss"),
    /** Measurements in a row without an improvement after which training stops; null: never. */
    patience: z.int().min(1).nullable().default(null),
    minImprovement: z.number().min(0).default(0),
    /** Which checkpoint becomes the policy: the best of those measured, or the last. */
    keep: z.enum(["best", "last"]).default("best"),
  })
  .refine(({ metric, questions }) => metric === "loss" || questions > 0, {
    path: ["questions"],
    message: "expected at least 1, since validation.metric is em",
  });

const samplesPath = z.string().meta(isPath());
const samplesPathList = z.array(samplesPath).min(1);
const samplesPaths = choice<string | string[]>(
  (value) => ({ schema: Array.isArray(value) ? samplesPathList : samplesPath, value }),
  () => [samplesPath, samplesPathList],
);

/** Training on a file. */
export const sftSamplesSchema = z.strictObject({
  /** Samples to learn from: the folder of a synthesis, a file of samples, or a list of these, whose samples are mixed. */
  data: samplesPaths.optional().meta(affects("place")),
  /** Samples to measure on: a file; null: none. A synthesis's own when absent, where `data` is its folder and it set some apart. */
  validationData: z
    .string()
    .nullable()
    .optional()
    .meta({ ...affects("place"), ...isPath() }),
  epochs: z.int().min(1).default(1).meta(affects("length")),
  /** What an optimiser step learns from: so many samples, or as many as make up so many tokens (at least one sample). */
  batch: z
    .strictObject({
      size: z.int().min(1).default(32),
      unit: z.enum(["samples", "tokens"]).default("samples"),
    })
    .prefault({}),
  /** Each epoch in an order of its own, or always as in the file. */
  order: z.enum(["shuffled", "as-is"]).default("shuffled"),
  /** Whether samples count by their weights. */
  weighted: z.boolean().default(true),
  /** What a batch's loss is the mean of: all its tokens, or its samples, each the mean of its own tokens. */
  lossAggregation: z.enum(["token-mean", "sample-mean"]).default("token-mean"),
  /** Hints in the teacher's messages: learned as the policy's own, kept as context, or cut out. */
  hints: z.enum(hintUses).default("learn"),
  /** Which messages are learned: those of the main line, or those of drafts, branches and modules as well. */
  lines: z.enum(["main", "all"]).default("main"),
  /**
   * Share of a sample's sequences that are learned, beside its last, which always is. Only strategies that build each prompt anew have
   * several: for corag these are the sub-queries and sub-answers (paper: 0.2), and the last is the answer. All of them when absent.
   */
  earlierPrompts: z.number().min(0).max(1).optional(),
  /** Longest sequence in tokens; the model's own limit when absent. */
  maxTokens: z.int().min(1).optional(),
  /** What is done about a longer sample: it is left out whole and counted, or the run stops. None is cut. */
  onTooLong: z.enum(["drop", "error"]).default("drop"),
  validation: validationSchema.prefault({}),
  ...both,
});

export type SftSamplesSettings = z.output<typeof sftSamplesSchema>;

export interface SftStep {
  /** From 1. */
  step: number;
  /** Mean negative log-likelihood of the policy's tokens, nats; weights left out. */
  loss: number;
  /** What was minimised, with weights and observations; of samples. */
  objective?: number;
  gradNorm: number;
  /** Positions computed, padding left out. */
  tokens: number;
}

/** A run over samples. */
export interface SftSamplesRun {
  engine: Engine;
  settings: SftSamplesSettings;
  /** Of weights above 0, where they count. */
  samples: readonly LearnedSample[];
  /** Of each step, the samples that it learns from (`sftBatches`). */
  batches: readonly (readonly number[])[];
  /** Steps already done: a resumed run continues as if it had not stopped. */
  firstStep: number;
  /** Multiplies the learning rate; 1 when absent. */
  learningRateFactor?: number;
  signal: AbortSignal;
  /** @returns whether to continue. */
  onStep(step: SftStep): Promise<boolean>;
}

/**
 * Trains on samples until the last batch, or until `onStep` has had enough.
 *
 * With wᵢ a sample's weight divided by the mean weight of all of them, mₜ 1 for learned tokens and `observationWeight` for shown ones:
 * token-mean is Σᵢ wᵢ Σₜ mₜ · −log π / Σᵢ Tᵢ with Tᵢ the learned tokens of sample i; sample-mean is (1/B) Σᵢ wᵢ (1/Tᵢ) Σₜ mₜ · −log π.
 * Denominators are those of the whole batch, however it is cut into micro-batches, and hold no weights: a batch of light samples moves
 * the policy less, and the scale of the weights does not matter.
 *
 * Source: sample-mean with weights is EXSEARCH's M-step (arXiv 2505.20128; SearchLM's code weighs each sample's mean-token loss).
 * Different here: its weights are not normalised; there 4·exp(−c) is taken as it is.
 */
export async function trainOnSamples(run: SftSamplesRun): Promise<void> {
  const { engine, settings, samples, batches, signal } = run;
  const { optimizer, weighted, lossAggregation, observationWeight } = settings;
  const meanWeight = samples.reduce((sum, { weight }) => sum + weight, 0) / samples.length;
  for (let step = run.firstStep; step < batches.length; step++) {
    signal.throwIfAborted();
    const batch = (batches[step] ?? []).flatMap((index) => samples[index] ?? []);
    const learned = batch.reduce((sum, each) => sum + each.learned, 0);
    const rows = batch.flatMap((sample) => {
      const share = weighted ? sample.weight / meanWeight : 1;
      const count = lossAggregation === "token-mean" ? learned : batch.length * sample.learned;
      const weights = { learned: share / count, shown: (share * observationWeight) / count };
      return sample.rows.map((row) => trainingRow(row, weights));
    });
    const result = await engine.forwardBackward(rows, { name: "cross-entropy", options: {} });
    const { gradNorm } = await engine.optimStep(
      adamAt(optimizer, step, batches.length, run.learningRateFactor),
    );
    let logprob = 0;
    const sequences = batch.flatMap((sample) => sample.rows);
    sequences.forEach((row, r) => (logprob += learnedLogprob(row, result.logprobs[r])));
    const goesOn = await run.onStep({
      step: step + 1,
      loss: -logprob / learned,
      objective: result.loss,
      gradNorm,
      tokens: batch.reduce((sum, each) => sum + each.tokens, 0),
    });
    if (!goesOn) return;
  }
}

/** Sequences that are scored together. */
const SCORED_TOGETHER = 64;

/** Mean negative log-likelihood of all learned tokens of samples, nats; their weights are left out. */
export async function samplesLoss(
  engine: Engine,
  samples: readonly LearnedSample[],
  signal: AbortSignal,
): Promise<number> {
  const rows = samples.flatMap((sample) => sample.rows);
  let logprob = 0;
  for (let at = 0; at < rows.length; at += SCORED_TOGETHER) {
    signal.throwIfAborted();
    const together = rows.slice(at, at + SCORED_TOGETHER);
    const scored = together.map((row) => trainingRow(row, { learned: 1, shown: 0 }));
    const logprobs = await engine.logprobs(scored);
    together.forEach((row, i) => (logprob += learnedLogprob(row, logprobs[i])));
  }
  return -logprob / samples.reduce((sum, { learned }) => sum + learned, 0);
}

/** A run over a stream. */
export interface SftStreamRun {
  /** Endless. */
  trajectories: AsyncIterator<Trajectory, undefined>;
  /** How many; the schedule counts from `firstStep` to `totalSteps`. */
  steps: number;
  firstStep: number;
  totalSteps: number;
  /** Multiplies the learning rate; 1 when absent. */
  learningRateFactor?: number;
  signal: AbortSignal;
  /** @returns whether to continue. */
  onStep(step: SftStep): Promise<boolean>;
}

/** Trains on a stream for a number of steps of a longer run. */
export async function trainOnStream(
  engine: Engine,
  settings: SftStreamSettings,
  options: SftStreamRun,
): Promise<void> {
  const last = options.firstStep + options.steps;
  const nextBatch = async (): Promise<PolicyRow[]> => {
    const batch: Trajectory[] = [];
    while (batch.length < settings.trajectoriesPerStep) {
      const next = await options.trajectories.next();
      if (next.done === true) break;
      batch.push(next.value);
    }
    return batch.flatMap((trajectory) => policyRows(trajectory));
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
      adamAt(settings.optimizer, step, options.totalSteps, options.learningRateFactor),
    );
    let loss = 0;
    rows.forEach((row, r) => {
      row.lossMask.forEach((mask, i) => (loss -= mask === 0 ? 0 : (result.logprobs[r]?.[i] ?? 0)));
    });
    const tokens = rows.reduce((sum, row) => sum + row.inputs.length, 0);
    const learned = { step: step + 1, loss: loss / trained, gradNorm, tokens };
    if (!(await options.onStep(learned))) return;
  }
}
