/** Neural-network operators that the runtime implements as one kernel. */
import { defineOp, type OpFunction, type Value } from "../graph.ts";
import { exp, mul, neg, sub } from "./elementwise.ts";
import { reduceMean, reduceSum } from "./reduce.ts";

/** eˣ / Σ eˣ along the last axis. dx = y · (dy − Σ dy · y) */
export const softmax: OpFunction = defineOp({
  name: "Softmax",
  infer: ([x]) => [{ dtype: x!.dtype, shape: x!.shape }],
  vjp: ({ outputs: [y], cotangents: [dy] }) => {
    const weighted = mul([dy!, y!]);
    const total = reduceSum(weighted, [y!.shape.length - 1]);
    return [sub([weighted, mul([y!, total])])];
  },
  examples: [{ inputs: [{ shape: [3, 5] }], attributes: { axis: -1 } }],
});

/** x − ln Σ eˣ along the last axis. dx = dy − softmax(x) · Σ dy */
export const logSoftmax: OpFunction = defineOp({
  name: "LogSoftmax",
  infer: ([x]) => [{ dtype: x!.dtype, shape: x!.shape }],
  vjp: ({ outputs: [y], cotangents: [dy] }) => {
    const total = reduceSum(dy!, [y!.shape.length - 1]);
    return [sub([dy!, mul([exp([y!]), total])])];
  },
  examples: [{ inputs: [{ shape: [3, 5] }], attributes: { axis: -1 } }],
});

/**
 * Root-mean-square norm over the last axis: y = x / √(mean(x²) + ε) · scale (Zhang & Sennrich, arXiv 1910.07467).
 * The runtime's name is SimplifiedLayerNormalization; its second output is r = 1 / √(mean(x²) + ε).
 * dx = r · (g − x̂ · mean(g · x̂)) with x̂ = x · r, g = dy · scale; dscale = Σ dy · x̂.
 */
export const simplifiedLayerNormalization: OpFunction = defineOp({
  name: "SimplifiedLayerNormalization",
  optionalFrom: 1,
  infer: ([x]) => [
    { dtype: x!.dtype, shape: x!.shape },
    { dtype: x!.dtype, shape: [...x!.shape.slice(0, -1), 1] },
  ],
  vjp: ({ inputs: [x, scale], outputs: [, r], cotangents: [dy] }) => {
    const last = x!.shape.length - 1;
    const normal = mul([x!, r!]);
    const g = mul([dy!, scale!]);
    const inner = reduceMean(mul([g, normal]), [last]);
    const dx = mul([sub([g, mul([normal, inner])]), r!]);
    return [dx, mul([dy!, normal])];
  },
  examples: [
    {
      inputs: [{ shape: [3, 4] }, { shape: [4] }],
      attributes: { axis: -1, epsilon: { float: 1e-5 }, stash_type: 1 },
      float32Only: true,
    },
  ],
});

/** Root-mean-square norm of the last axis. x [.., D], scale [D]. */
export function rmsNorm(x: Value, scale: Value, epsilon: number): Value {
  return simplifiedLayerNormalization([x, scale], {
    axis: -1,
    epsilon: { float: epsilon },
    stash_type: 1,
  });
}

/**
 * Rotary position embedding in the half-split layout of Llama and Qwen2 (Su et al., arXiv 2104.09864).
 * x [B, T, heads · d], positions int64 [B, T], cos and sin [P, d/2]. The derivative is the inverse rotation: dx = rotate(dy, −sin).
 */
export const rotaryEmbedding: OpFunction = defineOp({
  name: "RotaryEmbedding",
  domain: "com.microsoft",
  infer: ([x]) => [{ dtype: x!.dtype, shape: x!.shape }],
  vjp: ({ inputs: [, positions, cos, sin], attributes, cotangents: [dy] }) => [
    rotaryEmbedding([dy!, positions!, cos!, neg([sin!])], attributes),
    null,
    null,
    null,
  ],
  examples: [
    {
      inputs: [
        { shape: [1, 2, 8] },
        { shape: [1, 2], ints: [0, 1] },
        { shape: [2, 2], frozen: true },
        { shape: [2, 2], frozen: true },
      ],
      attributes: { num_heads: 2 },
      float32Only: true,
    },
  ],
});
