import { registry } from "../../base/registry.ts";
import { behaviourMetrics } from "./behaviours.ts";
import { diversityMetrics } from "./diversity.ts";
import { expressionMetric } from "./expression-metric.ts";
import type { Metric } from "./metric.ts";
import { statedFacts } from "./stated-facts.ts";

/** What `evaluation.metrics` may name, beside the parts of plugins. Every evaluation has `rowMetrics` as well, which read rows alone. */
export const metrics = registry<Metric>("metric", [
  ...behaviourMetrics,
  ...diversityMetrics,
  expressionMetric,
  statedFacts,
]);
