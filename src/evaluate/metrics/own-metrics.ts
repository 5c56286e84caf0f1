import { registry } from "../../base/registry.ts";
import type { Metric } from "./metric.ts";

/** What `evaluation.metrics` may name, beside the parts of plugins. Every evaluation has `rowMetrics` as well, which read rows alone. */
export const metrics = registry<Metric>("metric", {
  backtracking: async () => (await import("./behaviours.ts")).backtracking,
  calculation: async () => (await import("./behaviours.ts")).calculation,
  "div-equ": async () => (await import("./diversity.ts")).divEquMetric,
  "div-equ-pairs": async () => (await import("./diversity.ts")).divEquPairsMetric,
  expression: async () => (await import("./expression-metric.ts")).expressionMetric,
  "ngram-diversity": async () => (await import("./diversity.ts")).ngramDiversityMetric,
  "self-bleu": async () => (await import("./diversity.ts")).selfBleuMetric,
  "stated-facts": async () => (await import("./stated-facts.ts")).statedFacts,
  verification: async () => (await import("./behaviours.ts")).verification,
});
