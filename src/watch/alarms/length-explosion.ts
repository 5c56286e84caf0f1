import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { movingMeans, outside, remembering, seriesOf, shortly, smoothing } from "./levels.ts";

/**
 * Messages grew to several times their length within a short time. Reasoning that grows over hundreds of steps is what some
 * trainings are for; it does not ring while each `memory` steps grow by less than the factor.
 */
export const lengthExplosion = defineAlarm({
  name: "length-explosion",
  summary:
    "Tokens per trajectory rose to several times their lowest level within a few dozen steps.",
  metrics: ["rollout/completion_tokens"],
  source:
    "DAPO's overlong rollouts, arXiv 2503.14476, section 3.4; Dr.GRPO's length bias, 2503.20783",
  advice:
    "Look at the newest trajectories (agentrl trace show); lower the learning rate, or set algorithm.lossAggregation to fixed-length-mean.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(40),
    /** Times the lowest level. */
    factor: z.number().gt(1).default(3),
  }),
  window: ({ memory }) => memory,
  check(lines, { smooth, factor }) {
    const series = seriesOf(lines, "rollout/completion_tokens");
    const lowest = Math.min(...movingMeans(series, smooth));
    return outside({
      ...{ metric: "rollout/completion_tokens", series, smooth, broken: "above" },
      limit: factor * lowest,
      because: `${factor} times their lowest level of late, ${shortly(lowest)}`,
    });
  },
});
