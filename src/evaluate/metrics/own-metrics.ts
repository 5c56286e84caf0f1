import { registry } from "../../base/registry.ts";
import type { Reward } from "../../rewards/reward.ts";
import {
  divEquMetric,
  divEquPairsMetric,
  ngramDiversityMetric,
  selfBleuMetric,
} from "./diversity.ts";
import type { MeasuredDraw } from "./metric.ts";

/** A metric that `evaluation.metrics` names. It scores each draw as a reward does, or a question's draws together; nothing trains on it. */
export interface Metric extends Reward {
  readonly isShare: boolean;
  /** Scores all measured draws of a question together, in place of `score`; null: does not apply. */
  scoreDraws?(draws: readonly MeasuredDraw[], options: Record<string, unknown>): number | null;
}

/** What `evaluation.metrics` may name, beside the metrics that every evaluation has (`rowMetrics`). */
export const metrics = registry<Metric>("metric", [
  divEquMetric,
  divEquPairsMetric,
  selfBleuMetric,
  ngramDiversityMetric,
]);
