import { ConfigError } from "../../base/errors.ts";
import { requireDescribed } from "../../base/registry.ts";
import type { Resolved } from "../../base/schedule.ts";
import type { z } from "../../base/schema.ts";
import type { RewardContext } from "../../rewards/context.ts";
import { type Reward, type RewardHead, type Scored, defineReward } from "../../rewards/reward.ts";
import type { EvaluationRow } from "../evaluation-row.ts";
import { rowMetrics } from "./index.ts";

/** A metric that `evaluation.metrics` names. It scores each draw as a reward does, and nothing trains on it. */
export interface Metric extends Reward {
  readonly isShare: boolean;
}

/** A draw of an evaluation, with its row. */
export interface MeasuredDraw extends Scored {
  row: EvaluationRow;
}

/**
 * A metric, from its name, its options and one function, which returns null where the metric does not apply. `range` 0 to 1 when absent.
 * @throws {ConfigError} PLUGIN_BAD_PART without its function, or with the name of a metric that every evaluation has.
 * @example defineMetric({ name: "answer-words", summary: "Words of the answer.", range: [0, Infinity],
 * score: ({ row }) => row.answer?.split(/\s+/).length ?? null })
 */
export function defineMetric<S extends z.ZodObject>({
  isShare,
  range = [0, 1],
  score,
  ...head
}: RewardHead<S> & {
  isShare?: boolean;
  score: (
    draw: MeasuredDraw,
    options: Resolved<z.output<S>>,
    context: RewardContext,
  ) => number | null | Promise<number | null>;
}): Metric {
  requireDescribed("metric", { ...head, score } as { name: string }, ["score"]);
  if (rowMetrics.names.includes(head.name)) {
    const message = `the metric "${head.name}" already exists: every evaluation has it. Rename the plugin's part.`;
    throw new ConfigError("PLUGIN_BAD_PART", message);
  }
  const reward = defineReward<S>({
    ...head,
    range,
    score: (scored, ...rest) => score(scored as MeasuredDraw, ...rest),
  });
  return { ...reward, part: "metric", isShare: isShare ?? (range[0] === 0 && range[1] === 1) };
}
