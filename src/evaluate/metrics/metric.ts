import { ConfigError } from "../../base/errors.ts";
import { requireDescribed } from "../../base/registry.ts";
import type { Resolved } from "../../base/schedule.ts";
import type { z } from "../../base/schema.ts";
import type { RewardContext } from "../../rewards/context.ts";
import { type Reward, type RewardHead, type Scored, defineReward } from "../../rewards/reward.ts";
import type { EvaluationRow } from "../evaluation-row.ts";
import { rowMetrics } from "./index.ts";

/** A metric that `evaluation.metrics` names. It scores each draw as a reward does, or a question's draws together; nothing trains on it. */
export interface Metric extends Reward {
  readonly isShare: boolean;
  /** Scores all measured draws of a question together, in place of `score`; null: does not apply. */
  scoreDraws?(draws: readonly MeasuredDraw[], options: Record<string, unknown>): number | null;
}

/** A draw of an evaluation, with its row. */
export interface MeasuredDraw extends Scored {
  row: EvaluationRow;
}

type MetricBody<O> =
  | {
      score: (
        draw: MeasuredDraw,
        options: O,
        context: RewardContext,
      ) => number | null | Promise<number | null>;
    }
  | { scoreDraws: (draws: readonly MeasuredDraw[], options: O) => number | null };

/**
 * A metric, from its name, its options and one function, which returns null where the metric does not apply: `score` of one draw, or
 * `scoreDraws` of all draws of a question, whose value each of them gets. `range` 0 to 1 when absent.
 * @throws {ConfigError} PLUGIN_BAD_PART without its function, or with the name of a metric that every evaluation has.
 * @example defineMetric({ name: "answer-words", summary: "Words of the answer.", range: [0, Infinity],
 * score: ({ row }) => row.answer?.split(/\s+/).length ?? null })
 */
export function defineMetric<S extends z.ZodObject>({
  isShare,
  range = [0, 1],
  ...described
}: RewardHead<S> & { isShare?: boolean } & MetricBody<Resolved<z.output<S>>>): Metric {
  const together = "scoreDraws" in described ? described.scoreDraws : undefined;
  requireDescribed("metric", described, [together === undefined ? "score" : "scoreDraws"]);
  if (rowMetrics.names.includes(described.name)) {
    const message = `the metric "${described.name}" already exists: every evaluation has it. Rename the plugin's part.`;
    throw new ConfigError("PLUGIN_BAD_PART", message);
  }
  const { scoreDraws: _, ...head } = { scoreDraws: undefined, ...described };
  const reward = defineReward<S>({
    ...head,
    range,
    score: (scored, ...rest) =>
      "score" in head ? head.score(scored as MeasuredDraw, ...rest) : null,
  });
  const isDefaultShare = range[0] === 0 && range[1] === 1;
  return {
    ...reward,
    part: "metric",
    isShare: isShare ?? isDefaultShare,
    ...(together && { scoreDraws: together }),
  };
}
