import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { movingMeans, outside, remembering, seriesOf, shortly, smoothing } from "./levels.ts";

/** The policy stopped thinking or asking: it shows before the reward falls. */
export const lengthCollapse = defineAlarm({
  name: "length-collapse",
  summary: "Tokens per trajectory fell to a share of their highest level.",
  metrics: ["rollout/completion_tokens"],
  source: "a public re-study of Search-R1, in which reasoning degrades before the reward does",
  advice:
    "Look at the newest trajectories (agentrl trace show): if thoughts or searches are gone, go back to the last good step with a lower learning rate or a higher klCoef.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    /** Of the highest level. */
    share: z.number().positive().lt(1).default(0.3),
  }),
  window: ({ memory }) => memory,
  check(lines, { smooth, share }) {
    const series = seriesOf(lines, "rollout/completion_tokens");
    const highest = Math.max(...movingMeans(series, smooth));
    return outside({
      ...{ metric: "rollout/completion_tokens", series, smooth, broken: "below" },
      limit: share * highest,
      because: `${share} of their highest level, ${shortly(highest)}`,
    });
  },
});
