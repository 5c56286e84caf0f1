import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import { requireReturned } from "../../base/registry.ts";

/** Sums over the compared tokens of one side of a pair. */
export interface ComparedSide {
  /** Sum of log-probabilities under the policy, nats. */
  logprob: number;
  /** The same under the reference; 0 for losses without reference. */
  reference: number;
  /** Number of tokens, at least 1. */
  tokens: number;
}

/** The loss of one pair, in float64. */
export interface PairLoss {
  loss: number;
  /** dL / d(sum of log-probabilities) for each side. */
  gradients: Record<PairSide, number>;
  /** Implicit reward of each side; their difference is the margin. */
  rewards: Record<PairSide, number>;
}

export type PairSide = "chosen" | "rejected";

/**
 * A loss over the log-probabilities of a chosen and a rejected text. A function of their sums, not a graph: a trainer computes the sums in one
 * pass, gets the derivatives from here, and backpropagates them as token weights in a second pass (docs/training.md).
 */
export interface PreferenceLoss extends PartWithOptions {
  /** Paper and equation, and differences here. */
  readonly source: string;
  /** Whether it reads `reference`. */
  readonly needsReference: boolean;
  pairLoss(pair: Readonly<Record<PairSide, ComparedSide>>, options: unknown): PairLoss;
}

/** Makes a preference loss. @throws {ConfigError} PLUGIN_BAD_PART without pairLoss. */
export const definePreferenceLoss = definer<PreferenceLoss>()("preference loss", {
  defaults: { source: "", needsReference: false },
  functions: {
    pairLoss: {
      at: 1,
      returned(pair: PairLoss, { what }) {
        requireReturned(what, pair, { gradients: "object", rewards: "object" });
        const { loss, gradients, rewards } = pair;
        const numbers = [loss, ...[gradients, rewards].flatMap((of) => [of.chosen, of.rejected])];
        if (numbers.every((each) => typeof each === "number")) return pair;
        throw new ConfigError(
          "PLUGIN_FAILED",
          `${what} must return loss, gradients and rewards: numbers, the latter two of chosen and of rejected. Correct its code.`,
        );
      },
    },
  },
});

/** −log σ(x) and its derivative, without overflow. */
export function negLogSigmoid(x: number): { value: number; slope: number } {
  const small = Math.exp(-Math.abs(x));
  const value = Math.max(-x, 0) + Math.log1p(small);
  return { value, slope: -(x >= 0 ? small : 1) / (1 + small) };
}
