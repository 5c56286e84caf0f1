import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";

/**
 * Any metric of a step that is no finite number. Nothing can be learnt from weights that hold one, so this rule neither smooths nor
 * waits. What was written to `metrics.jsonl` as null, as JSON writes them, counts as well.
 */
export const notANumber = defineAlarm({
  name: "not-a-number",
  summary: "A metric of the step is NaN or infinite.",
  metrics: ["all"],
  source: "reports of runs that went on for hours on NaN weights, Awesome-ML-SYS-Tutorial#159",
  advice: "Lower algorithm.optimizer.learningRate, or gradClipNorm; a rollback does the first.",
  options: z.strictObject({}),
  window: () => 1,
  check(lines) {
    const newest = lines.at(-1);
    if (newest === undefined) return null;
    const broken = Object.entries(newest.metrics).filter(([, value]) => !Number.isFinite(value));
    const [first, ...others] = broken;
    if (first === undefined) return null;
    const [metric, value] = first;
    const more = others.length === 0 ? "" : `, as were ${others.map(([name]) => name).join(", ")}`;
    return {
      ...{ metric, value, limit: Number.MAX_VALUE, lastGoodStep: newest.step - 1 },
      message: `${metric} was ${String(value)} at step ${newest.step}${more}; only finite numbers are allowed.`,
    };
  },
});
