import { z } from "../../base/schema.ts";
import type { MetricsLine } from "../metrics-line.ts";
import { defineAlarm, type Finding } from "./alarm.ts";
import {
  movingMeans,
  outside,
  type Point,
  remembering,
  rewardRange,
  seriesOf,
  shortly,
  smoothing,
} from "./levels.ts";

/**
 * A reward fell far below its best, by more than its own noise. Each reward is held to it by its name as well: what falls while
 * the combined reward stands is given up for what pays more, and a reward of weight 0 is a good witness of that.
 */
export const rewardDrop = defineAlarm({
  name: "reward-drop",
  summary: "The reward, or one of several, fell far below its best level.",
  metrics: ["rollout/reward_mean", "reward/<name>", "eval/em"],
  source: "collapses of Search-R1, its issues 88 and 92, ZeroSearch#23, Agent-R1#8",
  advice:
    "Go back to the last good step with a lower learning rate or a higher klCoef; where one reward fell and another did not, mend their weights.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    /** Of the way to the best level from 0, or from the lowest reward of any trajectory where it falls below 0. */
    share: z.number().positive().lt(1).default(0.7),
    /** Standard errors of the two means' difference that a fall must exceed. */
    sigmas: z.number().nonnegative().default(3),
  }),
  window: ({ memory }) => memory,
  check(lines, options) {
    const names = Object.keys(lines.at(-1)?.metrics ?? {});
    const judged = names.filter((name) => JUDGED.test(name));
    for (const metric of judged) {
      const finding = dropOf(metric, lines, options);
      if (finding !== null) return finding;
    }
    return null;
  },
});

const JUDGED = /^(rollout\/reward_mean$|reward\/|eval\/em$)/;

function dropOf(
  metric: string,
  lines: readonly MetricsLine[],
  { smooth, share, sigmas }: { smooth: number; share: number; sigmas: number },
): Finding | null {
  const series = seriesOf(lines, metric);
  const means = movingMeans(series, smooth);
  const now = means.at(-1);
  if (now === undefined) return null;
  const best = Math.max(...means);
  const bestAt = means.indexOf(best);
  const lowest = Math.min(0, ...series.map(({ value }) => value));
  const floor = lowest < 0 ? Math.min(lowest, rewardRange(lines)[0]) : 0;
  const noise = Math.hypot(
    standardError(series.slice(bestAt, bestAt + smooth)),
    standardError(series.slice(-smooth)),
  );
  if (best - now <= sigmas * noise) return null;
  return outside({
    ...{ metric, series, smooth, broken: "below", limit: floor + share * (best - floor) },
    because: `its best level is ${shortly(best)}, noise ${shortly(noise)}`,
  });
}

/** Of the mean of neighbouring steps, from how they differ from each other: a trend within them makes it larger. */
function standardError(points: readonly Point[]): number {
  const count = points.length;
  if (count < 2) return 0;
  const mean = points.reduce((sum, { value }) => sum + value, 0) / count;
  const squares = points.reduce((sum, { value }) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (count - 1) / count);
}
