import { scalarLike, type Value } from "../autodiff/graph.ts";
import { add, clamp, exp, mul, neg, sub } from "../autodiff/ops/elementwise.ts";

/** Per-token estimators of KL(policy ‖ reference). */
export const klEstimators = ["k1", "k2", "k3"] as const;
export type KlEstimator = (typeof klEstimators)[number];

/**
 * Estimates KL(policy ‖ reference) per token from d = log π − log π_ref of sampled tokens:
 * k1 = d (as a loss, its gradient has zero mean: use it only in rewards), k2 = d²/2, k3 = e⁻ᵈ + d − 1.
 * The exponent is limited to ±20 and k3 to ±10, as in verl's "low_var_kl".
 *
 * Source: Schulman, "Approximating KL divergence" (2020); verl core_algos.
 */
export function klPenalty(estimator: KlEstimator, logprobs: Value, reference: Value): Value {
  const d = sub([logprobs, reference]);
  switch (estimator) {
    case "k1":
      return d;
    case "k2":
      return mul([mul([d, d]), scalarLike(d, 0.5)]);
    case "k3": {
      const value = add([exp([clamp(neg([d]), -20, 20)]), sub([d, scalarLike(d, 1)])]);
      return clamp(value, -10, 10);
    }
  }
}
