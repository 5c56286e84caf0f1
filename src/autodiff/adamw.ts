/**
 * AdamW with global-norm clipping: g ← g · min(1, maxNorm / (‖g‖ + 10⁻⁶)); m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²;
 * p ← p − lr · (m̂ / (√v̂ + ε) + λp), λ on matrices only. The norm is over all gradients together, before clipping.
 *
 * Source: Loshchilov & Hutter, arXiv 1711.05101, algorithm 2; the 10⁻⁶ in the clip factor is torch's clip_grad_norm_.
 *
 * There are two implementations: a loop over arrays (adam-loops.ts: one pass over memory, where a graph of element-wise operators
 * needs fourteen) and a graph (for tensors in device memory). Both use the same factors and compute in float32, as torch does.
 */
import type { Value } from "./graph.ts";
import { add, div, mul, sqrt, sub } from "./ops/elementwise.ts";
import { reduceSum } from "./ops/reduce.ts";
import { reshape } from "./ops/shape.ts";

export interface AdamOptions {
  learningRate: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  /** Maximum global gradient norm; Infinity disables clipping. */
  gradClipNorm: number;
}

/** Factors of one step, including clipping and bias corrections: m ← meanKept · m + meanShare · g, and so on. */
export interface AdamFactors<T = number> {
  meanKept: T;
  meanShare: T;
  squareKept: T;
  /** Of g². */
  squareShare: T;
  /**
   * p ← p − (rate · m / (√v + epsilon) + decay · p). Not (1 − decay) · p − …: in float32, 1 − decay is a multiple of 6·10⁻⁸, so it is
   * exactly 1 at a learning rate of 10⁻⁶ and a weight decay of .01.
   */
  rate: T;
  epsilon: T;
  decay: T;
}

/** Names of the factors, in fixed order. */
export const adamFactorNames = [
  ...["meanKept", "meanShare", "squareKept", "squareShare", "rate", "epsilon", "decay"],
] as readonly (keyof AdamFactors)[];

/**
 * @param step number of this step, from 1.
 * @param norm of all gradients, before clipping.
 */
export function adamFactors(options: AdamOptions, step: number, norm: number): AdamFactors {
  const { learningRate, beta1, beta2, epsilon, weightDecay, gradClipNorm } = options;
  // Not Math.min: a NaN norm must reach the weights, where it is detected.
  const fits = norm + 1e-6 <= gradClipNorm;
  const scale = fits ? 1 : gradClipNorm / (norm + 1e-6);
  const root = Math.sqrt(1 / (1 - beta2 ** step));
  return {
    meanKept: beta1,
    meanShare: (1 - beta1) * scale,
    squareKept: beta2,
    squareShare: (1 - beta2) * scale * scale,
    rate: learningRate / (1 - beta1 ** step) / root,
    epsilon: epsilon / root,
    decay: learningRate * weightDecay,
  };
}

/** One parameter with its gradient and moments, all of the same shape. */
export interface AdamState {
  parameter: Value;
  gradient: Value;
  mean: Value;
  square: Value;
  decays: boolean;
}

/** The same step as a graph. @param f scalars [1]. @returns the next values in the order of `states`. */
export function adamW(
  states: readonly AdamState[],
  f: AdamFactors<Value>,
): { parameter: Value; mean: Value; square: Value }[] {
  return states.map(({ parameter, gradient, mean, square, decays }) => {
    const nextMean = add([mul([mean, f.meanKept]), mul([gradient, f.meanShare])]);
    const g2 = mul([gradient, gradient]);
    const nextSquare = add([mul([square, f.squareKept]), mul([g2, f.squareShare])]);
    const direction = div([nextMean, add([sqrt([nextSquare]), f.epsilon])]);
    const moved = mul([direction, f.rate]);
    const change = decays ? add([moved, mul([parameter, f.decay])]) : moved;
    return { parameter: sub([parameter, change]), mean: nextMean, square: nextSquare };
  });
}

/** Σ g² over all elements of all gradients: []. */
export function squaredNorm(gradients: readonly Value[]): Value {
  const total = (x: Value): Value => {
    const axes = x.shape.map((_, i) => i);
    return reshape(reduceSum(mul([x, x]), axes), []);
  };
  return gradients.map(total).reduce((sum, each) => add([sum, each]));
}
