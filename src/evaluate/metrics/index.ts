import { registry } from "../../base/registry.ts";
import { answeringMetrics, answerRowMetrics } from "./answer-row-metrics.ts";
import { evidenceMetrics } from "./evidence-metrics.ts";
import { messageMetrics } from "./message-metrics.ts";
import type { RowMetric } from "./row-metric.ts";
import { searchMetrics } from "./search-metrics.ts";

const always = [...answerRowMetrics, ...answeringMetrics, ...searchMetrics, ...messageMetrics];

/** Names of the metrics that every evaluation has. */
export type CoreMetric = Extract<(typeof always)[number], { always: true }>["name"];

/** All metrics of rows, in the order of results. */
export const rowMetrics = registry<RowMetric>("row metric", [...always, ...evidenceMetrics]);
