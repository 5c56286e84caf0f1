import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { outside, seriesOf, smoothing } from "./levels.ts";

/** What samples and what trains are no longer one model: weights were not handed over, or numbers differ too much. */
export const mismatchKl = defineAlarm({
  name: "mismatch-kl",
  summary: "Sampler and trainer give tokens different probabilities.",
  metrics: ["mismatch/kl"],
  source:
    "collapses traced to sampler and trainer, verl's rollout correction; the local engine is at 1e-12, the limit is ours",
  advice:
    "Compare sampling and training on one file (agentrl trace lint --model); use one precision for both; set algorithm.oldLogprobs to recomputed.",
  options: z.strictObject({ ...smoothing(3), limit: z.number().positive().default(0.02) }),
  window: ({ smooth }) => smooth * 10,
  check(lines, { smooth, limit }) {
    const series = seriesOf(lines, "mismatch/kl");
    return outside({ metric: "mismatch/kl", series, smooth, limit, broken: "above" });
  },
});
