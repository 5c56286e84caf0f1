import { registry } from "../../base/registry.ts";
import type { Reward } from "../../rewards/reward.ts";
import { expressionMetric } from "./expression-metric.ts";

/** A metric that `evaluation.metrics` names. It scores each draw as a reward does, and nothing trains on it. */
export interface Metric extends Reward {
  readonly isShare: boolean;
}

/** Metrics that a recipe names, and those of plugins. Every evaluation has `rowMetrics` as well, which read rows alone. */
export const metrics = registry<Metric>("metric", [expressionMetric]);
