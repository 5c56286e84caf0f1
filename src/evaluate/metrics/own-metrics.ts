import { registry } from "../../base/registry.ts";
import type { Reward } from "../../rewards/reward.ts";

/** A metric that `evaluation.metrics` names. It scores each draw as a reward does, and nothing trains on it. */
export interface Metric extends Reward {
  readonly isShare: boolean;
}

/** The metrics that a recipe names. Every evaluation has `rowMetrics`, which read rows alone. */
export const metrics = registry<Metric>("metric", {
  backtracking: async () => (await import("./behaviours.ts")).backtracking,
  calculation: async () => (await import("./behaviours.ts")).calculation,
  verification: async () => (await import("./behaviours.ts")).verification,
});
