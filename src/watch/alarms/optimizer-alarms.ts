/** Alarms on the optimisation: numbers, entropy, KL, gradients, and the sampler's agreement with the trainer. */
import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import {
  aboveLimit,
  beyondLimit,
  isSolved,
  movingMeans,
  remembering,
  risen,
  seriesOf,
  shareOfHighest,
  shortly,
  smoothing,
} from "./levels.ts";

/**
 * Weights with a NaN cannot be trained, so this alarm neither smooths nor waits. JSON writes such a
 * value as null, which counts as well.
 */
export const notANumber = defineAlarm({
  name: "not-a-number",
  summary: "A metric of the step is NaN or infinite.",
  metrics: ["all"],
  source: "reports of runs that continued for hours on NaN weights, Awesome-ML-SYS-Tutorial#159",
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
      metric,
      value,
      limit: Number.MAX_VALUE,
      lastGoodStep: newest.step - 1,
      message: `${metric} was ${String(value)} at step ${newest.step}${more}; only finite numbers are allowed.`,
    };
  },
});

/** Entropy also falls in a training that succeeds: the alarm stays silent at a new best reward, and near the best possible one. */
export const entropyCollapse = defineAlarm({
  name: "entropy-collapse",
  summary:
    "Entropy fell to a share of its highest level while the reward did not reach a new best.",
  metrics: ["rollout/entropy"],
  source: "DAPO, arXiv 2503.14476, section 3.1; RAGEN's echo trap, arXiv 2504.20073",
  advice: "Raise algorithm.clipHigh, klCoef or entropyCoef, or lower the learning rate.",
  options: z.strictObject(shareOfHighest(0.1)),
  window: ({ memory }) => memory,
  check(lines, { smooth, share }) {
    const series = seriesOf(lines, "rollout/entropy");
    const highest = Math.max(...movingMeans(series, smooth));
    const rewards = seriesOf(lines, "rollout/reward_mean");
    const now = movingMeans(rewards, smooth).at(-1) ?? NaN;
    // Windows that share no step with the newest.
    const best = Math.max(...movingMeans(rewards.slice(0, -smooth), smooth));
    if (!(now < best) || isSolved(lines, smooth)) return null;
    return beyondLimit({
      metric: "rollout/entropy",
      series,
      smooth,
      limit: share * highest,
      broken: "below",
      because: `${share} of its highest level, ${shortly(highest)}; the reward is at ${shortly(now)}, its best was ${shortly(best)}`,
    });
  },
});

/** The policy samples more and more at random, after too large a step or under an entropy bonus. */
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
    /** Nats per token that the alarm always allows. */
    floor: z.number().nonnegative().default(0.1),
  }),
  window: ({ memory }) => memory,
  check: (lines, options) => risen(lines, "rollout/entropy", options),
});

/** The policy is far from its reference. Not judged without a reference (`klCoef: 0`). */
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
  check: (lines, options) => aboveLimit(lines, "losses/kl", options),
});

/** One spike does not fire: clipping handles it. */
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
    // The lower of the two middle values where there are two.
    const usual = before.sort((a, b) => a - b)[Math.floor((before.length - 1) / 2)] ?? NaN;
    return beyondLimit({
      metric: "optimizer/grad_norm",
      series,
      smooth,
      broken: "above",
      limit: factor * usual,
      because: `${factor} times its median before, ${shortly(usual)}`,
    });
  },
});

/** Sampler and trainer are no longer one model: the sampler has old weights, or their numbers differ too much. */
export const mismatchKl = defineAlarm({
  name: "mismatch-kl",
  summary: "Sampler and trainer give tokens different probabilities.",
  metrics: ["mismatch/kl"],
  source:
    "collapses traced to sampler and trainer, verl's rollout correction; the local engine is at 1e-12 in float32, the limit is ours",
  advice:
    "Compare sampling and training on one file (agentrl trace lint --model); use one precision for both; set algorithm.oldLogprobs to recomputed.",
  options: z.strictObject({ ...smoothing(3), limit: z.number().positive().default(0.02) }),
  window: ({ smooth }) => smooth * 10,
  check: (lines, options) => aboveLimit(lines, "mismatch/kl", options),
});
