import type { PartWithOptions } from "../../base/part-schema.ts";
import type { z } from "../../base/schema.ts";

/** One side of a pair: what its compared tokens add up to. */
export interface ComparedSide {
  /** Sum of their log-probabilities under the policy, nats. */
  logprob: number;
  /** The same under the reference; 0 for losses that have none. */
  reference: number;
  /** How many they are, at least 1. */
  tokens: number;
}

/** A loss of one pair, in 64 bits. */
export interface PairLoss {
  loss: number;
  /** dL / d(sum of log-probabilities) of the chosen and of the rejected side. */
  gradients: Record<PairSide, number>;
  /** What the loss implicitly takes for each side's reward; its difference is the margin. */
  rewards: Record<PairSide, number>;
}

export type PairSide = "chosen" | "rejected";

/**
 * A loss over the log-probabilities of a better and a worse text. A function of their sums, not a graph: a trainer computes the sums in one
 * pass, asks for the derivatives, and sends them back through the model as token weights in a second one (docs/preference.md).
 */
export interface PreferenceLoss extends PartWithOptions {
  /** Paper and equation, and what is different here. */
  readonly source: string;
  /** Whether it reads `reference`. */
  readonly needsReference: boolean;
  pairLoss(pair: Readonly<Record<PairSide, ComparedSide>>, options: unknown): PairLoss;
}

/** Types a loss by its options, which are checked where a recipe names them. */
export function definePreferenceLoss<S extends z.ZodObject>(
  loss: Omit<PreferenceLoss, "options" | "pairLoss"> & {
    options: S;
    pairLoss(pair: Readonly<Record<PairSide, ComparedSide>>, options: z.output<S>): PairLoss;
  },
): PreferenceLoss {
  return { ...loss, pairLoss: (pair, options) => loss.pairLoss(pair, options as z.output<S>) };
}

/** −log σ(x) and its derivative, without overflow. */
export function negLogSigmoid(x: number): { value: number; slope: number } {
  const small = Math.exp(-Math.abs(x));
  const value = Math.max(-x, 0) + Math.log1p(small);
  return { value, slope: -(x >= 0 ? small : 1) / (1 + small) };
}
