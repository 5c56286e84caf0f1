import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import {
  isSolved,
  movingMeans,
  outside,
  remembering,
  seriesOf,
  shortly,
  smoothing,
} from "./levels.ts";

/** Trajectories of one question are all rewarded alike, which comes before entropy and reward fall. Silent where all are right. */
export const rewardVariance = defineAlarm({
  name: "reward-variance",
  summary:
    "The reward's deviation within groups fell to a share of its highest level, and not because nearly all are right.",
  metrics: ["rollout/reward_std"],
  source: "echo trap: the deviation of rewards falls first, RAGEN, arXiv 2504.20073",
  advice:
    "Leave groups without variance out (algorithm.zeroVarianceGroups: skip), use harder or easier questions, lower the learning rate.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    /** Of the highest level. */
    share: z.number().positive().lt(1).default(0.15),
  }),
  window: ({ memory }) => memory,
  check(lines, { smooth, share }) {
    const series = seriesOf(lines, "rollout/reward_std");
    if (isSolved(lines, smooth)) return null;
    const highest = Math.max(...movingMeans(series, smooth));
    return outside({
      ...{ metric: "rollout/reward_std", series, smooth, broken: "below" },
      limit: share * highest,
      because: `${share} of its highest level, ${shortly(highest)}`,
    });
  },
});
