import { defineAlarm, z } from "agentrl";

const METRIC = "rollout/reward_mean";

export default defineAlarm({
  name: "low-reward",
  summary: "The mean reward stays low.",
  metrics: [METRIC],
  advice: "Try easier questions, or a higher temperature.",
  options: z.strictObject({ least: z.number().default(0.05), steps: z.int().min(1).default(10) }),
  window: ({ steps }) => steps,
  // The newest line is the last; null: nothing is wrong.
  check(lines, { least, steps }) {
    const values = lines.map(({ metrics }) => metrics[METRIC] ?? Infinity);
    const value = Math.max(...values);
    if (values.length < steps || value >= least) return null;
    const message = `${METRIC} was at most ${value} for ${steps} steps: less than ${least}.`;
    return { metric: METRIC, value, limit: least, lastGoodStep: 0, message };
  },
});
