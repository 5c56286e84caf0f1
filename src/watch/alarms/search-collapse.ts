import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { movingMeans, outside, remembering, seriesOf, shortly, smoothing } from "./levels.ts";

/** A policy that searched no longer does. One that never did is not judged. */
export const searchCollapse = defineAlarm({
  name: "search-collapse",
  summary: "Searches per trajectory fell to a share of their highest level.",
  metrics: ["rollout/searches"],
  source:
    "policies that learn to stop searching: arXiv 2505.15117 (noise engine), verl#1569, Search-R1#88",
  advice:
    "Check what searches show and that observations are not cut (agentrl recipes plan); look for a reward that is cheaper to have without searching.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    /** Of the highest level. */
    share: z.number().positive().lt(1).default(0.3),
    /** Searches per trajectory below which a level is none. */
    least: z.number().nonnegative().default(0.3),
  }),
  window: ({ memory }) => memory,
  check(lines, { smooth, share, least }) {
    const series = seriesOf(lines, "rollout/searches");
    const highest = Math.max(...movingMeans(series, smooth));
    if (highest < least) return null;
    return outside({
      ...{ metric: "rollout/searches", series, smooth, broken: "below" },
      limit: share * highest,
      because: `${share} of their highest level, ${shortly(highest)}`,
    });
  },
});
