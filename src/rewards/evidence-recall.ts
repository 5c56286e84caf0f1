import { z } from "../base/schema.ts";
import { goldShown } from "../trajectory/gold-shown.ts";
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
  placed: ({ per }) => per !== "trajectory",
  options: z.strictObject({
    /** trajectory: one value. turn: a value for each turn with calls, the share that it was the first to show; their sum is the value. */
    per: z.enum(["trajectory", "turn"]).default("trajectory"),
  }),
  score: ({ trajectory: { turns }, task }, { per }) => {
    const gold = new Set(task.annotations.supportingPassages ?? []);
    if (gold.size === 0) return null;
    const { after } = goldShown({ turns }, gold);
    if (per === "trajectory") return (after.at(-1) ?? 0) / gold.size;
    return turns.flatMap(({ observations }, turn) => {
      const first = (after[turn] ?? 0) - (after[turn - 1] ?? 0);
      return observations.length === 0 ? [] : [{ turn, value: first / gold.size }];
    });
  },
});
