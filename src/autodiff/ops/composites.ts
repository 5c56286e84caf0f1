/** Composites: several operators with one hand-written derivative, which needs fewer passes over memory than the chain rule. */
import { defineComposite, scalarLike, type Composite, type Value } from "../graph.ts";
import { add, log, mul, neg, sigmoid, sub } from "./elementwise.ts";
import { gatherElements, scatterElements } from "./indexing.ts";
import { matMul, swapLast } from "./linear.ts";
import { logSoftmax, softmax } from "./nn.ts";
import { reduceMax, reduceSum } from "./reduce.ts";
import { reshape, slice } from "./shape.ts";

/**
 * x · Wᵀ for a weight stored [out, in], with its transpose [in, out]: on a CPU, products with a transposed right side are
 * up to 40 % slower, so both layouts are stored and each direction uses the faster one. Where memory matters more,
 * use one layout and `gemm` with transB.
 * Inputs: x [N, in], W [out, in], Wᵀ [in, out] (a copy without cotangent). dx = dy · W, dW = dyᵀ · x.
 */
export const linear = defineComposite({
  name: "linear",
  forward: ([x, , transposed]) => ({ result: matMul([x!, transposed!]), kept: null }),
  vjp: ([x, weight], _, dy) => [matMul([dy, weight!]), matMul([swapLast(dy), x!]), null],
  // The example's two weights are one tensor and its transpose, made inside the check.
  examples: [{ inputs: [{ shape: [5, 3] }, { shape: [4, 3] }] }],
});

/**
 * Log-probability (nats) of one class per row: logits [N, V], int32 targets [N, 1] → [N, 1].
 * ln p_t = z_t − max z + ln max p: one softmax serves both directions, and no probability underflows, because the largest is at least 1/V.
 * dlogits = dy · (onehot − softmax): one scatter into −dy · p instead of a dense one-hot.
 */
export const targetLogprob = defineComposite({
  name: "targetLogprob",
  forward: ([logits, targets]) => {
    const p = softmax([logits!], { axis: -1 });
    const own = gatherElements([logits!, targets!], { axis: 1 });
    const behind = sub([own, reduceMax(logits!, [1])]);
    return { result: add([behind, log([reduceMax(p, [1])])]), kept: p };
  },
  vjp: ([, targets], p, dy) => {
    const spread = mul([p, neg([dy])]);
    return [scatterElements([spread, targets!, dy], { axis: 1, reduction: "add" }), null];
  },
  examples: [{ inputs: [{ shape: [3, 4] }, { shape: [3, 1], ints: [0, 3, 1] }] }],
});

/**
 * ln Σ eˣ along the last axis: [N, V] → [N, 1]. dx = dy · softmax(x).
 * Computed as x₀ − (x₀ − ln Σ eˣ), because the runtime's log-softmax subtracts the maximum before its exponentials.
 */
export const logSumExp = defineComposite({
  name: "logSumExp",
  forward: ([x]) => {
    const first = (of: Value): Value => slice(of, 1, 0, 1);
    return { result: sub([first(x!), first(logSoftmax([x!], { axis: -1 }))]), kept: null };
  },
  vjp: ([x], _, dy) => [mul([softmax([x!], { axis: -1 }), dy])],
  examples: [{ inputs: [{ shape: [3, 5] }] }],
});

/** SwiGLU: gate · σ(gate) · up (Shazeer, arXiv 2002.05202). With a = g·σ: dup = dy·a, dgate = dy·up · (σ + a − a·σ). */
export const swiglu = defineComposite({
  name: "swiglu",
  forward: ([gate, up]) => {
    const s = sigmoid([gate!]);
    const a = mul([gate!, s]);
    return { result: mul([a, up!]), kept: { s, a } };
  },
  vjp: ([, up], { s, a }, dy) => {
    const slope = add([s, sub([a, mul([a, s])])]);
    return [mul([mul([dy, up!]), slope]), mul([dy, a])];
  },
  examples: [{ inputs: [{ shape: [3, 4] }, { shape: [3, 4] }] }],
});

/**
 * scores [.., M, T] + mask [.., Q, T], where M is Q or a multiple of it: each of several stacked groups of queries gets the whole
 * mask, which is not repeated in memory. The mask gets no cotangent.
 */
export function addMask(scores: Value, mask: Value): Value {
  const [stacked, keys] = scores.shape.slice(-2) as [number, number];
  const queries = mask.shape.at(-2) ?? 1;
  if (queries === stacked || queries === 1) return add([scores, mask]);
  const apart = [...scores.shape.slice(0, -2), stacked / queries, queries, keys];
  return reshape(add([reshape(scores, apart), mask]), scores.shape);
}

/**
 * Scaled dot-product attention with an additive mask: q [.., M, d], k [.., d, T] (transposed), v [.., T, d], mask
 * as in `addMask` (no cotangent). The softmax derivative needs the row sums of dP·P, which equal those of dO·O, computed
 * over d instead of T elements (Dao et al., arXiv 2205.14135, appendix B.4).
 */
export const attention = defineComposite({
  name: "attention",
  forward: ([q, k, v, mask]) => {
    const scaled = mul([q!, scalarLike(q!, 1 / Math.sqrt(q!.shape.at(-1)!))]);
    const weights = softmax([addMask(matMul([scaled, k!]), mask!)], { axis: -1 });
    const result = matMul([weights, v!]);
    return { result, kept: { scaled, weights, result } };
  },
  vjp: ([q, k, v], { scaled, weights, result }, dy) => {
    const rowSums = reduceSum(mul([dy, result]), [dy.shape.length - 1]);
    const dScores = mul([weights, sub([matMul([dy, swapLast(v!)]), rowSums])]);
    const dq = mul([
      matMul([dScores, swapLast(k!)]),
      scalarLike(q!, 1 / Math.sqrt(q!.shape.at(-1)!)),
    ]);
    return [dq, matMul([swapLast(scaled), dScores]), matMul([swapLast(weights), dy]), null];
  },
  examples: [
    {
      inputs: [
        { shape: [2, 3, 4] },
        { shape: [2, 4, 5] },
        { shape: [2, 5, 4] },
        { shape: [3, 5], frozen: true },
      ],
    },
    // Two groups of queries under one mask.
    {
      inputs: [
        { shape: [2, 6, 4] },
        { shape: [2, 4, 5] },
        { shape: [2, 5, 4] },
        { shape: [3, 5], frozen: true },
      ],
    },
  ],
});

/** Every composite as a function of its examples' inputs; the numeric gradient check runs over this list. */
export const allComposites: readonly (readonly [string, Composite])[] = [
  ["linear", Object.assign((x: Value, w: Value) => linear(x, w, swapLast(w)), linear)],
  ["targetLogprob", targetLogprob],
  ["logSumExp", logSumExp],
  ["swiglu", swiglu],
  ["attention", attention],
];
