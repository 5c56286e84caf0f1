import { z } from "../base/schema.ts";
import type { Turn } from "../trajectory/trajectory.ts";
import { defineReward } from "./reward.ts";

/**
 * The share of the question's gold passages that the policy's searches showed. A task without gold passages cannot be scored. Passages that
 * a strategy put into the first prompt do not count: no message of the policy found them.
 *
 * Source: InForage, arXiv 2505.09316, information gain reward; StepSearch, arXiv 2505.15107, gain of a step. Different here: a passage is
 * found or not, by its id; StepSearch compares texts. Both pay for more besides.
 */
export const evidenceRecall = defineReward({
  name: "evidence-recall",
  summary: "Share of the question's gold passages that the policy's searches showed.",
  range: [0, 1],
  source: "InForage, arXiv 2505.09316, information gain; StepSearch, arXiv 2505.15107",
  options: z.strictObject({
    /** trajectory: one value. turn: a value for each turn with calls, the share that it was the first to show; their sum is the value. */
    per: z.enum(["trajectory", "turn"]).default("trajectory"),
  }),
  score: ({ trajectory: { turns }, task }, { per }) => {
    const gold = new Set(task.annotations.supportingPassages ?? []);
    if (gold.size === 0) return null;
    const found = firstShown(turns, gold);
    if (per === "turn") return found.map(({ turn, count }) => ({ turn, value: count / gold.size }));
    return found.reduce((sum, { count }) => sum + count, 0) / gold.size;
  },
});

/** For each turn with calls: how many of the gold passages it was the first to show. */
function firstShown(
  turns: readonly Turn[],
  gold: ReadonlySet<string>,
): { turn: number; count: number }[] {
  const missing = new Set(gold);
  return turns.flatMap(({ observations }, turn) => {
    if (observations.length === 0) return [];
    const shown = new Set(observations.flatMap(({ passageIds = [] }) => passageIds));
    return [{ turn, count: [...shown].filter((id) => missing.delete(id)).length }];
  });
}
