import { definedValues } from "../base/defined-values.ts";
import type { AdamOptions } from "../autodiff/adamw.ts";
import { meanOrZero, sampleVariance } from "../base/statistics.ts";
import { ConfigError } from "../base/errors.ts";
import { fixed } from "../base/schedule.ts";
import { z } from "../base/schema.ts";
import { ignoredWhen } from "../base/setting-effect.ts";
import { criticTrunks, type Engine, type TrainingRow, VALUE_WEIGHTS } from "../engine/engine.ts";
import { losses } from "../losses/index.ts";
import type { LossSpec } from "../losses/loss.ts";
import { optimizerSchema, type OptimizerSettings } from "./optimizer-settings.ts";
import { finite, type PolicyRow, weighted } from "./training-rows.ts";

/** How many times the policy's learning rate a critic's is: 1e-5 to 1e-6 in verl, and in the papers that use it. */
const LEARNING_RATE_RATIO = 10;

export const criticSchema = z.strictObject({
  /** own: a second decoder with the policy's first weights and a value head. shared: a value head on the policy's trunk. */
  trunk: z.enum(criticTrunks).default("own"),
  /** Steps in which the critic alone learns. */
  warmup: z
    .int()
    .min(0)
    .default(0)
    .meta(ignoredWhen({ trunk: "shared" })),
  /** Of a critic with its own decoder; the policy's at ten times its learning rate when absent. */
  optimizer: optimizerSchema.optional().meta(ignoredWhen({ trunk: "shared" })),
  /** Largest change of a value by the updates of one batch; null is off. */
  clip: z.number().positive().nullable().default(0.5),
  /** Weight of the value loss beside the policy's. */
  coef: z
    .number()
    .positive()
    .default(0.5)
    .meta(ignoredWhen({ trunk: "own" })),
});

export type CriticSettings = z.output<typeof criticSchema>;

/** The optimiser of a critic with its own decoder. */
export function criticOptimizer(
  { optimizer }: Pick<CriticSettings, "optimizer">,
  policys: OptimizerSettings,
): { settings: OptimizerSettings; factor: number } {
  return optimizer === undefined
    ? { settings: policys, factor: LEARNING_RATE_RATIO }
    : { settings: optimizer, factor: 1 };
}

/** The value loss of a critic: alone, or joined to the policy's. */
function criticLoss({ clip, coef, trunk }: CriticSettings): LossSpec {
  return { name: "value", options: { clip, coef: trunk === "shared" ? coef : undefined } };
}

/** The policy's loss with that of a critic on its trunk. */
export function joinedLoss(loss: LossSpec, critic: CriticSettings | null): LossSpec {
  if (critic?.trunk !== "shared") return loss;
  return { ...loss, joined: { loss: criticLoss(critic), weights: VALUE_WEIGHTS } };
}

/**
 * A loss over whole rows cannot tell the environment's tokens, where the critic learns, from the policy's.
 * @throws {ConfigError} RECIPE_BAD_VALUE
 */
export function requireOwnTokens(loss: LossSpec, batch: readonly ValuedRow[]): void {
  if (loss.joined === undefined || !losses.get(loss.name, "loss").fields.includes("rowOffsets"))
    return;
  const strays = batch.some(({ returns, lossMask }) =>
    returns.some((each, i) => !Number.isNaN(each) && lossMask[i] === 0),
  );
  if (!strays) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `algorithm.loss "${loss.name}" is a mean over the policy's tokens, and a critic on its trunk also learns at the environment's. Set algorithm.critic.trunk own, or algorithm.timeAxis policy-tokens.`,
  );
}

/** What a critic learns of a row, per target; NaN where it learns nothing. */
export interface ValuedRow extends PolicyRow {
  values: readonly number[];
  returns: readonly number[];
}

/** The critic's values of everything after the first prompts, per row and target; NaN elsewhere. */
export async function valuesOf(engine: Engine, rows: readonly PolicyRow[]): Promise<number[][]> {
  const asked = rows.map((row) => ({ ...weighted(row, 1), fields: { weights: row.response } }));
  return (await engine.values(asked)).map((values) => Array.from(values));
}

/** Mean over the batch's valued tokens: weights of the value loss, per row and target. */
function valueWeights(batch: readonly ValuedRow[]): number[][] {
  const learned = batch.map(({ returns }) => returns.map((each) => Number(!Number.isNaN(each))));
  const total = learned.flat().reduce((sum, each) => sum + each, 0);
  return learned.map((row) => row.map((each) => each / Math.max(total, 1)));
}

/** The fields that a value loss reads. @returns per row. */
export function valueFields(
  batch: readonly ValuedRow[],
): Readonly<Record<"returns" | "oldValues" | typeof VALUE_WEIGHTS, number[]>>[] {
  const weights = valueWeights(batch);
  return batch.map(({ returns, values }, i) => ({
    returns: returns.map(finite),
    oldValues: values.map(finite),
    [VALUE_WEIGHTS]: weights[i] ?? [],
  }));
}

/** An update of a critic with its own decoder. @returns metrics, and the number of tokens that were computed. */
export async function criticStep(
  engine: Engine,
  batch: readonly ValuedRow[],
  critic: CriticSettings,
  adam: AdamOptions,
): Promise<{ metrics: Record<string, number>; trained: number }> {
  const rows = criticRows(batch);
  const { metrics } = await engine.forwardBackward(rows, criticLoss(critic), "critic");
  const { gradNorm } = await engine.optimStep(adam, "critic");
  return {
    metrics: { ...metrics, "critic/grad_norm": gradNorm },
    trained: rows.reduce((sum, { inputs }) => sum + inputs.length, 0),
  };
}

/** Rows for a critic with its own decoder. */
function criticRows(batch: readonly ValuedRow[]): TrainingRow[] {
  return valueFields(batch).flatMap(({ valueWeights: weights, ...rest }, i) => {
    const row = batch[i];
    if (row === undefined) return [];
    return [{ inputs: row.inputs, targets: row.targets, fields: { ...rest, weights } }];
  });
}

/**
 * How well the critic foresaw the returns of a batch before it learned from them: `critic/explained_variance`,
 * 1 − var(return − value) / var(return), is 1 at best, 0 for a constant, and below 0 where values mislead.
 */
export function criticMetrics(batch: readonly ValuedRow[]): Record<string, number> {
  const pairs = batch.flatMap(({ returns, values }) =>
    returns.flatMap((each, i) => (Number.isNaN(each) ? [] : [[each, values[i] ?? NaN] as const])),
  );
  const returns = pairs.map(([each]) => each);
  const variance = returns.length < 2 ? 0 : sampleVariance(returns);
  return definedValues({
    "critic/value_mean": meanOrZero(pairs.map(([, value]) => value)),
    "critic/return_mean": meanOrZero(returns),
    "critic/explained_variance":
      variance === 0
        ? undefined
        : 1 - sampleVariance(pairs.map(([each, value]) => each - value)) / variance,
  });
}

/** As a recipe's algorithm sets it. */
export const criticSetting = fixed(criticSchema.prefault({}));
