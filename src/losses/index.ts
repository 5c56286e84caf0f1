import { registry } from "../base/registry.ts";
import { cispo } from "./cispo.ts";
import { crossEntropy } from "./cross-entropy.ts";
import { diversePolicyGradient } from "./diverse-policy-gradient.ts";
import { gspo } from "./gspo.ts";
import type { LossSpec } from "./loss.ts";
import { policyGradient } from "./policy-gradient.ts";
import { valueLoss } from "./value.ts";

export const losses = registry("loss", [
  cispo,
  crossEntropy,
  diversePolicyGradient,
  gspo,
  policyGradient,
  valueLoss,
]);

/** Whether a loss with these options reads log-probabilities under the initial weights. */
export function needsReference({ name, options }: LossSpec): boolean {
  return losses.get(name, "loss").needsReference(options);
}
