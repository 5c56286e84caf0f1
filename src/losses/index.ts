import { registry } from "../base/registry.ts";
import { crossEntropy } from "./cross-entropy.ts";
import { policyGradient } from "./policy-gradient.ts";

export const losses = registry("loss", [crossEntropy, policyGradient]);
