import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { outside, seriesOf, smoothing } from "./levels.ts";

/** The policy is far from what it started from. Not judged without a reference (`klCoef: 0`). */
export const klExplosion = defineAlarm({
  name: "kl-explosion",
  summary: "The KL to the reference per token passed a limit.",
  metrics: ["losses/kl"],
  source:
    "open-r1#257 (reward to 0, KL explodes); the limit is ours: what learns stays a factor of ten below",
  advice: "Lower the learning rate or gradClipNorm, or raise algorithm.klCoef.",
  options: z.strictObject({
    ...smoothing(3),
    /** Nats per token, by the recipe's estimator. */
    limit: z.number().positive().default(1),
  }),
  window: ({ smooth }) => smooth * 10,
  check(lines, { smooth, limit }) {
    const series = seriesOf(lines, "losses/kl");
    return outside({ metric: "losses/kl", series, smooth, limit, broken: "above" });
  },
});
