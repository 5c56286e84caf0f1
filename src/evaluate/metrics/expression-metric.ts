import { z } from "../../base/schema.ts";
import { NO_HISTORY } from "../../rewards/context.ts";
import { rewardExpression } from "../../rewards/expression/expression.ts";
import { defineMetric } from "./metric.ts";

/**
 * A number from the rewards of a draw, by the form of a recipe's `reward:` (docs/rewards.md): the difference between a verifier and an oracle,
 * for example. It may name every reward that an evaluation computes, and facts of the trajectory. Without a value where it needs an unknown one.
 *
 * @example strict 0, verdict 1, correct 0: "(strict or verdict) - correct" → 1
 */
export const expressionMetric = defineMetric({
  name: "expression",
  summary: "A number from the rewards of an evaluation, as a reward expression writes it.",
  source: "ours; the difference of training reward and oracle reward in arXiv 2505.22203",
  range: [-Infinity, Infinity],
  options: z.strictObject({
    /** The expression. */
    of: z.string().min(1),
  }),
  score({ trajectory }, { of }, { step, totalSteps }) {
    const values = new Map<string, number | null>();
    for (const { name, value } of trajectory.rewards) {
      const sum = values.get(name) ?? 0;
      values.set(name, value === null || values.get(name) === null ? null : sum + value);
    }
    const expression = rewardExpression(of, [...values.keys()]);
    const time = { step, totalSteps, history: NO_HISTORY };
    return expression.combine([{ trajectory, values }], time)[0] ?? null;
  },
});
