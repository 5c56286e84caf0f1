import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { movingMeans, outside, remembering, seriesOf, shortly, smoothing } from "./levels.ts";

/** The policy writes ever more at random: what too large a step, or an entropy bonus, does. */
export const entropyExplosion = defineAlarm({
  name: "entropy-explosion",
  summary: "Entropy rose to several times its lowest level, and above a floor.",
  metrics: ["rollout/entropy"],
  source: "CIR's ablation of an entropy bonus; trainings at too high a learning rate, ours",
  advice: "Lower the learning rate or algorithm.entropyCoef, or raise klCoef.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    /** Times the lowest level. */
    factor: z.number().gt(1).default(4),
    /** Nats per token that are never too much. */
    floor: z.number().nonnegative().default(0.1),
  }),
  window: ({ memory }) => memory,
  check(lines, { smooth, factor, floor }) {
    const series = seriesOf(lines, "rollout/entropy");
    const lowest = Math.min(...movingMeans(series, smooth));
    return outside({
      ...{ metric: "rollout/entropy", series, smooth, broken: "above" },
      limit: Math.max(floor, factor * lowest),
      because: `${factor} times its lowest level, ${shortly(lowest)}, and no less than ${floor}`,
    });
  },
});
