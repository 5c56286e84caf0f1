import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { isSolved, outside, remembering, seriesOf, smoothing } from "./levels.ts";

/** Nearly every group has equal rewards, so nearly no batch teaches anything. Silent where all are right. */
export const zeroVariance = defineAlarm({
  name: "zero-variance",
  summary: "Nearly all groups have equal rewards, and not because nearly all are right.",
  metrics: ["rollout/zero_variance_share"],
  source:
    "DAPO's dynamic sampling, arXiv 2503.14476, section 3.2; trl#3708, trl#4764; reward always zero, Search-R1#79",
  advice:
    "Check the reward (agentrl reward check) and the newest answers; use questions that are sometimes answered rightly, or a larger groupSize.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    limit: z.number().positive().max(1).default(0.9),
  }),
  window: ({ memory }) => memory,
  check(lines, { smooth, limit }) {
    const metric = "rollout/zero_variance_share";
    if (isSolved(lines, smooth)) return null;
    return outside({ metric, series: seriesOf(lines, metric), smooth, limit, broken: "above" });
  },
});
