import { registry } from "../base/registry.ts";
import { grpo } from "./grpo.ts";
import type { OnPolicyAlgorithm } from "./algorithm.ts";
import { reinforce } from "./reinforce.ts";

/** Algorithms that learn from their own rollouts. */
export const algorithms = registry<OnPolicyAlgorithm>("algorithm", [grpo, reinforce]);
