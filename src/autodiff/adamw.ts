import { scalarLike, type Value } from "./graph.ts";
import { add, div, min, mul, reciprocal, sqrt, sub } from "./ops/elementwise.ts";
import { reduceSum } from "./ops/reduce.ts";
import { reshape } from "./ops/shape.ts";

/** One parameter with its gradient and moments, all of one shape. */
export interface AdamState {
  parameter: Value;
  gradient: Value;
  /** Running mean of gradients. */
  mean: Value;
  /** Running mean of squared gradients, not centred. */
  square: Value;
  decays: boolean;
}

/** Scalars [] float32 given at each step. */
export interface AdamScalars {
  learningRate: Value;
  beta1: Value;
  beta2: Value;
  epsilon: Value;
  weightDecay: Value;
  /** 1 / (1 − β₁ᵗ) and 1 / (1 − β₂ᵗ), t from 1. */
  meanCorrection: Value;
  squareCorrection: Value;
  /** Gradients are scaled so that their common norm is at most this. */
  maxNorm: Value;
}

/**
 * AdamW with global-norm clipping: g ← g · min(1, maxNorm / (‖g‖ + 10⁻⁶)); m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²;
 * p ← p − lr · (m̂ / (√v̂ + ε) + λp), λ on matrices only. The norm is over all gradients together, before clipping.
 *
 * @returns next values in the order of `states`, and the unclipped norm [].
 *
 * Source: Loshchilov & Hutter, arXiv 1711.05101, algorithm 2; the 10⁻⁶ in the clip factor is torch's clip_grad_norm_.
 */
export function adamW(
  states: readonly AdamState[],
  s: AdamScalars,
): { next: { parameter: Value; mean: Value; square: Value }[]; norm: Value } {
  const one = scalarLike(s.beta1, 1);
  const squares = states.map(({ gradient }) => {
    const axes = gradient.shape.map((_, i) => i);
    return reshape(reduceSum(mul([gradient, gradient]), axes), []);
  });
  const norm = sqrt([squares.reduce((sum, each) => add([sum, each]))]);
  const scale = min([one, div([s.maxNorm, add([norm, scalarLike(norm, 1e-6)])])]);
  const keepMean = sub([one, s.beta1]);
  const keepSquare = sub([one, s.beta2]);
  const next = states.map(({ parameter, gradient, mean, square, decays }) => {
    const g = mul([gradient, scale]);
    const nextMean = add([mul([mean, s.beta1]), mul([g, keepMean])]);
    const nextSquare = add([mul([square, s.beta2]), mul([mul([g, g]), keepSquare])]);
    const denominator = add([sqrt([mul([nextSquare, s.squareCorrection])]), s.epsilon]);
    const direction = mul([mul([nextMean, s.meanCorrection]), reciprocal([denominator])]);
    const update = decays ? add([direction, mul([parameter, s.weightDecay])]) : direction;
    return {
      parameter: sub([parameter, mul([update, s.learningRate])]),
      mean: nextMean,
      square: nextSquare,
    };
  });
  return { next, norm };
}
