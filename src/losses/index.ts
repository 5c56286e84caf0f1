import { registry } from "../base/registry.ts";
import { cispo } from "./cispo.ts";
import { crossEntropy } from "./cross-entropy.ts";
import type { LossSpec } from "./loss.ts";
import { policyGradient } from "./policy-gradient.ts";

export const losses = registry("loss", [cispo, crossEntropy, policyGradient]);

/** Whether a loss with these options reads log-probabilities under the initial weights. */
export function needsReference({ name, options }: LossSpec): boolean {
  return losses.get(name, "loss").needsReference(options);
}
