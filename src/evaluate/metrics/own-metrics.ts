import { registry } from "../../base/registry.ts";
import type { Metric } from "./metric.ts";
import { statedFacts } from "./stated-facts.ts";

/** What `evaluation.metrics` may name, beside the parts of plugins. Every evaluation has `rowMetrics`, which read rows alone. */
export const metrics = registry<Metric>("metric", [statedFacts]);
