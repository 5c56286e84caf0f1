import { registry } from "../base/registry.ts";
import { crossEntropy } from "./cross-entropy.ts";
import type { LossSpec } from "./loss.ts";
import { policyGradient } from "./policy-gradient.ts";

export const losses = registry("loss", [crossEntropy, policyGradient]);

/** Whether a loss with its options reads log-probabilities under the weights with which training began. */
export function needsReference({ name, options }: LossSpec): boolean {
  return losses.get(name, "loss").needsReference(options);
}
