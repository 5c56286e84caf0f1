import { registry } from "../../base/registry.ts";
import type { Reward } from "../../rewards/reward.ts";

/** A metric that `evaluation.metrics` names. It scores each draw as a reward does, and nothing trains on it. */
export interface Metric extends Reward {
  readonly isShare: boolean;
}

/** The metrics of plugins. Every evaluation has those of the package (`rowMetrics`), which read rows alone. */
export const metrics = registry<Metric>("metric", []);
