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

/**
 * The policy became certain, and no better for it. Entropy falls in every training that succeeds too, so the rule stays silent
 * while the reward is at a new best, and where nearly all trajectories get the best reward there is.
 */
export const entropyCollapse = defineAlarm({
  name: "entropy-collapse",
  summary:
    "Entropy fell to a share of its highest level while the reward did not reach a new best.",
  metrics: ["rollout/entropy"],
  source: "DAPO, arXiv 2503.14476, section 3.1; RAGEN's echo trap, arXiv 2504.20073",
  advice: "Raise algorithm.clipHigh, klCoef or entropyCoef, or lower the learning rate.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    /** Of the highest level. */
    share: z.number().positive().lt(1).default(0.1),
  }),
  window: ({ memory }) => memory,
  check(lines, { smooth, share }) {
    const series = seriesOf(lines, "rollout/entropy");
    const highest = Math.max(...movingMeans(series, smooth));
    const rewards = seriesOf(lines, "rollout/reward_mean");
    const now = movingMeans(rewards, smooth).at(-1) ?? NaN;
    // Windows that share no step with the newest.
    const best = Math.max(...movingMeans(rewards.slice(0, -smooth), smooth));
    if (!(now < best) || isSolved(lines, smooth)) return null;
    const because = `${share} of its highest level, ${shortly(highest)}; the reward is at ${shortly(now)}, its best was ${shortly(best)}`;
    return outside({
      ...{ metric: "rollout/entropy", series, smooth, because },
      ...{ limit: share * highest, broken: "below" },
    });
  },
});
