import { advantageEstimators } from "../advantages/index.ts";
import { registry } from "../base/registry.ts";
import { needsReference } from "../losses/index.ts";
import { estimatorOf, type OnPolicyAlgorithm, type OnPolicyOptions } from "./algorithm.ts";
import { grpo } from "./grpo.ts";
import { reinforce } from "./reinforce.ts";

/** Algorithms that learn from their own rollouts. */
export const algorithms = registry<OnPolicyAlgorithm>("algorithm", [grpo, reinforce]);

/** Whether an algorithm's losses or its estimator read log-probabilities under the weights with which training began. */
export function readsReference({ name, ...options }: NamedOptions): boolean {
  const algorithm = algorithms.get(name, "algorithm");
  const estimator = estimatorOf(algorithm, options as unknown as OnPolicyOptions);
  return (
    algorithm.losses(options).some(needsReference) ||
    advantageEstimators.get(estimator.name, "algorithm.advantage").reads.includes("reference")
  );
}

/** An algorithm as a recipe sets it. */
type NamedOptions = { name: string } & Record<string, unknown>;
