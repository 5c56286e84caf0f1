import type { LossSpec } from "../../losses/loss.ts";
import { losses } from "../../losses/index.ts";
import { TEMPERATURES, type TrainingRow } from "../engine.ts";
import type { Dialect } from "./dialect.ts";
import type { WireRow } from "./messages.ts";

/** A loss that a server has itself, with what it reads. */
export interface NativeLoss {
  lossFn: string;
  config: Readonly<Record<string, number>>;
  row: (row: TrainingRow) => WireRow;
}

interface PolicyGradientOptions {
  ratio: "token" | "none";
  clipLow: number;
  clipHigh: number;
  dualClip: number | null;
  importanceSamplingCap?: number;
  klCoef: number;
  entropyCoef: number;
}

/**
 * The server's own loss with exactly this gradient; null where there is none, so that two passes are needed.
 * Clipped policy gradient without KL, entropy, dual clip and truncation is `ppo`, a weight w ≥ 0 multiplied into the advantage:
 * w · min(ρA, clip(ρ)A) = min(ρwA, clip(ρ)wA). REINFORCE is `cross_entropy` with weights w · A. None where a server divides by weights.
 */
export function nativeLoss(
  loss: LossSpec,
  rows: readonly TrainingRow[],
  { aggregation, ratioBounds }: Dialect,
): NativeLoss | null {
  if (aggregation === "mean" || loss.joined !== undefined) return null;
  if (loss.name === "cross-entropy") return crossEntropy(({ fields }) => fields.weights);
  if (loss.name !== "policy-gradient") return null;
  const options = losses
    .get(loss.name, "loss")
    .options.parse(loss.options) as unknown as PolicyGradientOptions;
  const { ratio, dualClip, importanceSamplingCap, klCoef, entropyCoef } = options;
  if (klCoef > 0 || entropyCoef > 0) return null;
  if (ratio === "none") return crossEntropy(weightedAdvantages);
  if (dualClip !== null || importanceSamplingCap !== undefined || !ratioBounds) return null;
  if (rows.some(({ fields }) => fields.weights.some((weight) => weight < 0))) return null;
  return {
    lossFn: "ppo",
    config: { clip_low_threshold: 1 - options.clipLow, clip_high_threshold: 1 + options.clipHigh },
    row: (row) =>
      wireRow(row, {
        logprobs: row.fields["oldLogprobs"] ?? [],
        advantages: weightedAdvantages(row),
      }),
  };
}

function crossEntropy(weights: (row: TrainingRow) => readonly number[]): NativeLoss {
  return {
    lossFn: "cross_entropy",
    config: {},
    row: (row) => wireRow(row, { weights: weights(row) }),
  };
}

function weightedAdvantages({ fields }: TrainingRow): number[] {
  return fields.weights.map((weight, i) =>
    weight === 0 ? 0 : weight * (fields["advantages"]?.[i] ?? NaN),
  );
}

/** A row whose unscored tokens have 0 in every array, since a loss may leave NaN there; temperatures alone are sent as they are. */
export function wireRow(row: TrainingRow, fields: WireRow["fields"]): WireRow {
  const { weights, [TEMPERATURES]: temperatures } = row.fields;
  const cleaned = Object.entries(fields).map(
    ([name, values]) => [name, values.map((value, i) => (weights[i] === 0 ? 0 : value))] as const,
  );
  return {
    tokens: row.inputs,
    fields: {
      target_tokens: row.targets,
      ...Object.fromEntries(cleaned),
      ...(temperatures === undefined ? {} : { [TEMPERATURES]: temperatures }),
    },
  };
}

/**
 * The second of two passes: rows whose gradient is Σ g · ∂log π, g the loss's derivative. Where losses are summed, cross-entropy with
 * weights −g; where a server divides by weights, importance sampling at ratio 1 with advantages −g times the row's length.
 */
export function linearLoss(
  { aggregation }: Dialect,
  gradients: ReadonlyMap<TrainingRow, { logprobs: Float32Array; gradient: Float32Array }>,
): NativeLoss {
  const of = (row: TrainingRow): { logprobs: Float32Array; gradient: Float32Array } =>
    gradients.get(row) ?? { logprobs: new Float32Array(0), gradient: new Float32Array(0) };
  if (aggregation === "sum")
    return crossEntropy((row) => Array.from(of(row).gradient, (gradient) => -gradient));
  return {
    lossFn: "importance_sampling",
    config: {},
    row: (row) => {
      const { logprobs, gradient } = of(row);
      return wireRow(row, {
        logprobs: Array.from(logprobs),
        advantages: Array.from(gradient, (each) => -each * row.targets.length),
      });
    },
  };
}
