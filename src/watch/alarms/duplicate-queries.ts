import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { outside, seriesOf, smoothing } from "./levels.ts";

/** The policy asks the same again and again. */
export const duplicateQueries = defineAlarm({
  name: "duplicate-queries",
  summary: "A large share of a trajectory's searches repeats an earlier one.",
  metrics: ["rollout/duplicate_query_share"],
  source:
    "echo trap: repeated turns, RAGEN, arXiv 2504.20073; collapses of Search-R1, its issues 88, 89, 92",
  advice:
    "Look at what searches show (agentrl trace show): an index that answers nothing, or observations cut to nothing, teach repetition.",
  options: z.strictObject({ ...smoothing(5), limit: z.number().positive().lt(1).default(0.4) }),
  window: ({ smooth }) => smooth * 10,
  check(lines, { smooth, limit }) {
    const metric = "rollout/duplicate_query_share";
    return outside({ metric, series: seriesOf(lines, metric), smooth, limit, broken: "above" });
  },
});
