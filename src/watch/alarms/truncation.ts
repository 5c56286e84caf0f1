import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { outside, seriesOf, smoothing } from "./levels.ts";

/** Trajectories end without an answer because their turns, tokens or context are spent. */
export const truncation = defineAlarm({
  name: "truncation",
  summary: "A large share of trajectories ends because a budget is spent.",
  metrics: ["rollout/truncated_share"],
  source:
    "verl PR 5114 (a turn limit that allowed one search), Search-R1#127; policies that forget to answer, ours",
  advice:
    "Look whether the policy forgot to answer or cannot within its budgets (agentrl trace show, agentrl recipes plan); raise environment.budgets, or go back.",
  options: z.strictObject({ ...smoothing(5), limit: z.number().positive().lt(1).default(0.5) }),
  window: ({ smooth }) => smooth * 10,
  check(lines, { smooth, limit }) {
    const metric = "rollout/truncated_share";
    return outside({ metric, series: seriesOf(lines, metric), smooth, limit, broken: "above" });
  },
});
