/** Alarms on rewards: the reward falls, or groups no longer differ in reward. */
import { z } from "../../base/schema.ts";
import { standardError } from "../../base/statistics.ts";
import type { MetricsLine } from "../metrics-line.ts";
import { defineAlarm, type Finding } from "./alarm.ts";
import {
  aboveLimit,
  beyondLimit,
  fallen,
  isSolved,
  movingMeans,
  type Point,
  remembering,
  rewardRange,
  seriesOf,
  shareOfHighest,
  shortly,
  smoothing,
} from "./levels.ts";

/**
 * Each reward is also judged by its own name: the combined reward can stay level while the policy gives up one reward for another
 * that pays more. A reward of weight 0 shows this best.
 */
export const rewardDrop = defineAlarm({
  name: "reward-drop",
  summary: "The reward, or one of several, fell far below its best level.",
  metrics: ["rollout/reward_mean", "reward/<name>", "eval/em"],
  source: "collapses of Search-R1, its issues 88 and 92, ZeroSearch#23, Agent-R1#8",
  advice:
    "Go back to the last good step with a lower learning rate or a higher klCoef; where one reward fell and another did not, correct their weights.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    /** Of the way to the best level from 0, or from the lowest reward of any trajectory if that is below 0. */
    share: z.number().positive().lt(1).default(0.7),
    /** Standard errors of the two means' difference that a fall must exceed. */
    sigmas: z.number().nonnegative().default(3),
  }),
  window: ({ memory }) => memory,
  check(lines, options) {
    const names = Object.keys(lines.at(-1)?.metrics ?? {});
    for (const metric of names.filter((name) => JUDGED.test(name))) {
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
    noiseOf(series.slice(bestAt, bestAt + smooth)),
    noiseOf(series.slice(-smooth)),
  );
  if (best - now <= sigmas * noise) return null;
  return beyondLimit({
    metric,
    series,
    smooth,
    broken: "below",
    limit: floor + share * (best - floor),
    because: `its best level is ${shortly(best)}, noise ${shortly(noise)}`,
  });
}

/** Standard error of the mean of neighbouring steps, from the differences between them; a trend makes it larger. */
function noiseOf(points: readonly Point[]): number {
  return points.length < 2 ? 0 : standardError(points.map(({ value }) => value));
}

/**
 * The combined reward leaves an oracle behind: a reward of weight 0 that nothing trains on, from 0 to 1. The combined reward is brought to
 * that scale by its lowest and highest value, where they lie beyond it, so that 2 · oracle - 1 leaves no gap. The alarm also sees an oracle
 * that stands still while the reward rises, which is no drop. Silent where no reward has the oracle's name.
 *
 * Source: arXiv 2505.22203, which compares the reward of training with GPT-4o's at checkpoints. Different here: at every step.
 */
export const rewardGap = defineAlarm({
  name: "reward-gap",
  summary: "The combined reward rose above an oracle that is recorded beside it.",
  metrics: [
    ...["rollout/reward_mean", "rollout/reward_min", "rollout/reward_max"],
    "reward/<oracle>",
  ],
  source: "training reward and oracle reward of hacked verifiers, arXiv 2505.22203, section 5",
  advice:
    "Read the newest answers that the reward accepts and the oracle rejects, go back to the last good step, and correct or replace the verifier.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    /** Name of the reward that is the oracle. */
    oracle: z.string().default("correct"),
    /** By how much the difference may exceed its lowest level. */
    limit: z.number().positive().default(0.1),
  }),
  window: ({ memory }) => memory,
  check(lines, { oracle, smooth, limit }) {
    const metric = `rollout/reward_mean - reward/${oracle}`;
    const all = (name: string): number[] => seriesOf(lines, name).map(({ value }) => value);
    const low = Math.min(0, ...all("rollout/reward_min"));
    const span = Math.max(1, ...all("rollout/reward_max")) - low;
    const gaps = lines.map(({ step, metrics }) => {
      const { "rollout/reward_mean": paid = NaN, [`reward/${oracle}`]: truth = NaN } = metrics;
      return { step, metrics: { [metric]: (paid - low) / span - truth } };
    });
    const series = seriesOf(gaps, metric);
    const lowest = Math.min(...movingMeans(series, smooth));
    const because = `${limit} above its lowest level, ${shortly(lowest)}`;
    const judged = { metric, series, smooth, limit: lowest + limit, because };
    return beyondLimit({ ...judged, broken: "above" });
  },
});

/**
 * Rewards within groups become equal before entropy and reward fall. Silent if all trajectories are
 * right.
 */
export const rewardVariance = defineAlarm({
  name: "reward-variance",
  summary:
    "The reward's deviation within groups fell to a share of its highest level, and not because nearly all are right.",
  metrics: ["rollout/reward_std"],
  source: "echo trap: the deviation of rewards falls first, RAGEN, arXiv 2504.20073",
  advice:
    "Leave groups without variance out (algorithm.filters: [zero-variance]), use harder or easier questions, lower the learning rate.",
  options: z.strictObject(shareOfHighest(0.15)),
  window: ({ memory }) => memory,
  check: (lines, options) =>
    isSolved(lines, options.smooth) ? null : fallen(lines, "rollout/reward_std", options),
});

/**
 * A group of equal rewards has no advantage: the step learns nothing. Silent if all trajectories
 * are right.
 */
export const zeroVariance = defineAlarm({
  name: "zero-variance",
  summary: "Nearly all groups have equal rewards, and not because nearly all are right.",
  metrics: ["rollout/zero_variance_share"],
  source:
    "DAPO's dynamic sampling, arXiv 2503.14476, section 3.2; trl#3708, trl#4764; reward always zero, Search-R1#79",
  advice:
    "Check the reward (agentrl reward check) and the newest answers; use questions that are sometimes answered rightly, or a larger groupSize.",
  options: z.strictObject({
    ...smoothing(5),
    ...remembering(200),
    limit: z.number().positive().max(1).default(0.9),
  }),
  window: ({ memory }) => memory,
  check: (lines, options) =>
    isSolved(lines, options.smooth)
      ? null
      : aboveLimit(lines, "rollout/zero_variance_share", options),
});
