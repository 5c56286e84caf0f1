import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { outside, remembering, seriesOf, shortly, smoothing } from "./levels.ts";

/** Gradients are many times as large as they usually were; one spike, which clipping takes care of, does not ring. */
export const gradientNorm = defineAlarm({
  name: "gradient-norm",
  summary: "The gradient's norm is many times its usual one.",
  metrics: ["optimizer/grad_norm"],
  source: "echo trap: gradient norms spike last, RAGEN, arXiv 2504.20073",
  advice: "Lower gradClipNorm or the learning rate; look at the batch with --replay-batch.",
  options: z.strictObject({
    ...smoothing(3),
    ...remembering(100),
    /** Times the median of the steps before. */
    factor: z.number().gt(1).default(10),
    /** Steps before that a median needs. */
    settled: z.int().min(1).default(10),
  }),
  window: ({ memory }) => memory,
  check(lines, { smooth, factor, settled }) {
    const series = seriesOf(lines, "optimizer/grad_norm");
    const before = series.slice(0, -smooth).map(({ value }) => value);
    if (before.length < settled) return null;
    const usual = median(before);
    return outside({
      ...{ metric: "optimizer/grad_norm", series, smooth, broken: "above", limit: factor * usual },
      because: `${factor} times its median before, ${shortly(usual)}`,
    });
  },
});

/** The lower of the two middle ones where there are two. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN;
}
