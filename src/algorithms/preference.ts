/**
 * Preference training: of two trajectories of one question the better one gains on the worse one (DPO and relatives).
 *
 * Implements the losses of src/losses/preference over whole trajectories or single turns, with a likelihood term on the chosen side.
 * The reference is the policy that a run starts from, so that a recipe's rounds of drawing and training are iterative DPO. Two passes:
 * log-probabilities first, then their derivatives as token weights of a cross-entropy, so that a pair may be split over micro-batches
 * and machines and no engine needs a loss over pairs. Leaves out: KTO, a reference of its own, a decaying β.
 *
 * Run: agentrl dpo --recipe NAME --data FOLDER (docs/training.md)
 */
import { partSchema } from "../base/define-part.ts";
import { random } from "../base/random.ts";
import { z } from "../base/schema.ts";
import { affects } from "../base/setting-effect.ts";
import { isPath } from "../base/setting-path.ts";
import type { Engine, TrainingRow } from "../engine/engine.ts";
import { preferenceLosses } from "../losses/preference/index.ts";
import type { ComparedSide, PairLoss, PairSide } from "../losses/preference/preference-loss.ts";
import { adamAt, optimizerSchema } from "./optimizer-settings.ts";
import type { ComparedRow, PairRows } from "./preference-rows.ts";
import { hintUses } from "./student-rows.ts";

export const preferenceSchema = z.strictObject({
  /** Pairs to learn from: the folder of a synthesis, or a file of pairs. */
  data: z
    .string()
    .optional()
    .meta({ ...affects("place"), ...isPath() }),
  /** Pairs to measure on: a file. A synthesis's own where `data` is its folder and it set some apart. */
  validationData: z
    .string()
    .optional()
    .meta({ ...affects("place"), ...isPath() }),
  loss: partSchema(preferenceLosses).prefault("dpo"),
  /**
   * What becomes of hints that were put into a teacher's messages: context of what follows, cut out, or compared as the policy's own
   * words.
   */
  hints: z.enum(hintUses).default("read"),
  /** Weight of −mean log π of the chosen side's tokens beside the loss (LLaMA-Factory's pref_ftx). */
  sftCoef: z.number().nonnegative().default(0),
  epochs: z.int().min(1).default(1).meta(affects("length")),
  /** Pairs per optimiser step; the last of an epoch may have fewer. */
  pairsPerStep: z.int().min(1).default(32),
  /** Each epoch in an order of its own, or always as in the file. */
  order: z.enum(["shuffled", "file"]).default("shuffled"),
  /** Steps between measurements of the validation pairs, which are also measured before and after. */
  validateEvery: z.int().min(1).default(20),
  /** Measurements without a smaller validation loss after which training stops and goes back to the best; null: never. */
  patience: z.int().min(1).nullable().default(null),
  optimizer: optimizerSchema.prefault({}),
});

export type PreferenceSettings = z.output<typeof preferenceSchema>;

/** One step's outcome. */
export interface PreferenceStep {
  /** From 1. */
  step: number;
  /** By the field's names; the same for the same seed. */
  metrics: Record<string, number>;
  /** Milliseconds by pass. */
  timings: { policy: number; reference: number; backward: number; optimizer: number };
  /** Positions computed in one pass, padding left out. */
  tokens: number;
}

export interface PreferenceRun {
  /** Holds the policy and, where the loss needs it, the frozen snapshot "reference". */
  engine: Engine;
  settings: PreferenceSettings;
  pairs: readonly PairRows[];
  seed: number;
  /** Steps already done: a resumed run continues as if it had not stopped. */
  firstStep: number;
  /** Multiplies the learning rate; 1 when absent. */
  learningRateFactor?: number;
  signal: AbortSignal;
  /** @returns whether to continue. */
  onStep(step: PreferenceStep): Promise<boolean>;
}

/** Steps of a run. @param pairs that it learns from. */
export function preferenceSteps(
  { epochs, pairsPerStep }: Pick<PreferenceSettings, "epochs" | "pairsPerStep">,
  pairs: number,
): number {
  return epochs * Math.ceil(pairs / pairsPerStep);
}

/** Trains until the last step, or until `onStep` has had enough. Everything random derives from the seed and the epoch's number. */
export async function trainPreference(run: PreferenceRun): Promise<void> {
  const { engine, settings, pairs, signal } = run;
  const totalSteps = preferenceSteps(settings, pairs.length);
  for (let step = run.firstStep; step < totalSteps; step++) {
    signal.throwIfAborted();
    const batch = batchOf(run, step);
    const scored = await scorePairs(engine, settings, batch);
    signal.throwIfAborted();
    const begun = performance.now();
    const rows = weightedRows(batch, scored.losses);
    if (rows.length > 0) await engine.forwardBackward(rows, { name: "cross-entropy", options: {} });
    const backwardAt = performance.now();
    const adam = adamAt(settings.optimizer, step, totalSteps, run.learningRateFactor);
    const { gradNorm } = await engine.optimStep(adam);
    const goesOn = await run.onStep({
      step: step + 1,
      metrics: {
        ...pairMetrics(scored),
        "optimizer/grad_norm": gradNorm,
        "optimizer/learning_rate": adam.learningRate,
      },
      timings: {
        ...scored.timings,
        backward: backwardAt - begun,
        optimizer: performance.now() - backwardAt,
      },
      tokens: batch.flatMap(rowsOf).reduce((sum, { ids }) => sum + ids.length - 1, 0),
    });
    if (!goesOn) return;
  }
}

/** Means over pairs that are not learned from. */
export async function measurePairs(
  engine: Engine,
  settings: PreferenceSettings,
  pairs: readonly PairRows[],
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const losses: ScoredPair[] = [];
  for (let at = 0; at < pairs.length; at += settings.pairsPerStep) {
    signal.throwIfAborted();
    const batch = pairs.slice(at, at + settings.pairsPerStep);
    losses.push(...(await scorePairs(engine, settings, batch)).losses);
  }
  return pairMetrics({ losses });
}

function batchOf({ settings, pairs, seed }: PreferenceRun, step: number): PairRows[] {
  const { pairsPerStep, order } = settings;
  const perEpoch = Math.ceil(pairs.length / pairsPerStep);
  const epoch = Math.floor(step / perEpoch);
  const from = (step % perEpoch) * pairsPerStep;
  const ordered = order === "file" ? pairs : random(seed).derive("pairs", epoch).shuffle(pairs);
  return ordered.slice(from, from + pairsPerStep);
}

/** A pair's loss, and what it was computed from. */
type ScoredPair = PairLoss & Record<PairSide, ComparedSide>;

/** The first pass, or with a reference two: what each side's tokens add up to, and each pair's loss of it. */
async function scorePairs(
  engine: Engine,
  { loss: { name, ...options }, sftCoef }: PreferenceSettings,
  batch: readonly PairRows[],
): Promise<{ losses: ScoredPair[]; timings: { policy: number; reference: number } }> {
  const loss = preferenceLosses.get(name, "preference.loss");
  const rows = batch.flatMap(rowsOf).map((row) => trainingRow(row, 1));
  const begun = performance.now();
  const policy = await engine.logprobs(rows);
  const policyAt = performance.now();
  const reference = loss.needsReference ? await engine.logprobs(rows, "reference") : null;
  const timings = { policy: policyAt - begun, reference: performance.now() - policyAt };
  let row = 0;
  const losses = batch.map((pair): ScoredPair => {
    const side = (of: PairSide): ComparedSide => {
      const sums = { logprob: 0, reference: 0, tokens: pair[of].tokens };
      for (const { compared } of pair[of].rows) {
        sums.logprob += sumOf(policy[row], compared);
        sums.reference += sumOf(reference?.[row], compared);
        row += 1;
      }
      return sums;
    };
    const sides = { chosen: side("chosen"), rejected: side("rejected") };
    return { ...withLikelihood(loss.pairLoss(sides, options), sides.chosen, sftCoef), ...sides };
  });
  return { losses, timings };
}

/** Adds sftCoef · −mean log π of the chosen side. */
function withLikelihood(
  { loss, gradients, rewards }: PairLoss,
  { logprob, tokens }: ComparedSide,
  sftCoef: number,
): PairLoss {
  return {
    loss: loss - (sftCoef * logprob) / tokens,
    gradients: { ...gradients, chosen: gradients.chosen - sftCoef / tokens },
    rewards,
  };
}

/**
 * The second pass's rows: cross-entropy is Σ weight · −log π, so that a token's weight is minus the derivative of the batch's mean loss.
 * Sides that nothing pulls at are left out.
 */
function weightedRows(batch: readonly PairRows[], losses: readonly PairLoss[]): TrainingRow[] {
  return batch.flatMap((pair, i) =>
    (["chosen", "rejected"] as const).flatMap((side) => {
      const weight = -(losses[i]?.gradients[side] ?? 0) / batch.length;
      return weight === 0 ? [] : pair[side].rows.map((row) => trainingRow(row, weight));
    }),
  );
}

function pairMetrics({ losses }: { losses: readonly ScoredPair[] }): Record<string, number> {
  const mean = (of: (pair: ScoredPair) => number): number =>
    losses.reduce((sum, each) => sum + of(each), 0) / losses.length;
  return {
    "losses/preference": mean(({ loss }) => loss),
    "rewards/chosen": mean(({ rewards }) => rewards.chosen),
    "rewards/rejected": mean(({ rewards }) => rewards.rejected),
    "rewards/margin": mean(({ rewards }) => rewards.chosen - rewards.rejected),
    "rewards/accuracy": mean(({ rewards }) => Number(rewards.chosen > rewards.rejected)),
    "logprobs/chosen": mean(({ chosen }) => chosen.logprob),
    "logprobs/rejected": mean(({ rejected }) => rejected.logprob),
    "tokens/chosen": mean(({ chosen }) => chosen.tokens),
    "tokens/rejected": mean(({ rejected }) => rejected.tokens),
  };
}

function rowsOf({ chosen, rejected }: PairRows): ComparedRow[] {
  return [...chosen.rows, ...rejected.rows];
}

function trainingRow({ ids, compared }: ComparedRow, weight: number): TrainingRow {
  return {
    inputs: Array.from(ids.subarray(0, -1)),
    targets: Array.from(ids.subarray(1)),
    fields: { weights: Array.from(compared.subarray(1), (each) => each * weight) },
  };
}

/** Over the compared targets, nats. */
function sumOf(logprobs: Float32Array | undefined, compared: Uint8Array): number {
  let sum = 0;
  logprobs?.forEach((each, i) => (sum += compared[i + 1] === 1 ? each : 0));
  return sum;
}
