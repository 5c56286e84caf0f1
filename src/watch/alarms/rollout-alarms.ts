/** Alarms on what the policy does in its rollouts: searches, repeated queries, length, spent budgets. */
import { z } from "../../base/schema.ts";
import { defineAlarm } from "./alarm.ts";
import { aboveLimit, fallen, remembering, risen, shareOfHighest, smoothing } from "./levels.ts";

/** Trajectories end without an answer because they used up their turns, tokens or context. */
export const truncation = defineAlarm({
  name: "truncation",
  summary: "A large share of trajectories ends because a budget is spent.",
  metrics: ["rollout/truncated_share"],
  source:
    "verl PR 5114 (a turn limit that allowed one search), Search-R1#127; policies that forget to answer, ours",
  advice:
    "Check whether the policy forgot to answer or cannot within its budgets (agentrl trace show, agentrl recipes plan); raise budgets, or go back.",
  options: z.strictObject({ ...smoothing(5), limit: z.number().positive().lt(1).default(0.5) }),
  window: ({ smooth }) => smooth * 10,
  check: (lines, options) => aboveLimit(lines, "rollout/truncated_share", options),
});

/** The policy no longer searches. A policy that never searched is not judged. */
export const searchCollapse = defineAlarm({
  name: "search-collapse",
  summary: "Searches per trajectory fell to a share of their highest level.",
  metrics: ["rollout/searches"],
  source:
    "policies that learn to stop searching: arXiv 2505.15117 (noise engine), verl#1569, Search-R1#88",
  advice:
    "Check what searches show and that observations are not cut (agentrl recipes plan); look for a reward that is easier to get without searching.",
  options: z.strictObject({
    ...shareOfHighest(0.3),
    /** Searches per trajectory; below this highest level the alarm stays silent. */
    least: z.number().nonnegative().default(0.3),
  }),
  window: ({ memory }) => memory,
  check: (lines, options) => fallen(lines, "rollout/searches", options),
});

export const duplicateQueries = defineAlarm({
  name: "duplicate-queries",
  summary: "A large share of a trajectory's searches repeats an earlier one.",
  metrics: ["rollout/duplicate_query_share"],
  source:
    "echo trap: repeated turns, RAGEN, arXiv 2504.20073; collapses of Search-R1, its issues 88, 89, 92",
  advice:
    "Look at what searches show (agentrl trace show): an index that answers nothing, or observations cut to nothing, teach repetition.",
  options: z.strictObject({ ...smoothing(5), limit: z.number().positive().lt(1).default(0.4) }),
  window: ({ smooth }) => smooth * 10,
  check: (lines, options) => aboveLimit(lines, "rollout/duplicate_query_share", options),
});

/** The policy stopped thinking or searching. This shows before the reward falls. */
export const lengthCollapse = defineAlarm({
  name: "length-collapse",
  summary: "Tokens per trajectory fell to a share of their highest level.",
  metrics: ["rollout/completion_tokens"],
  source: "a public re-study of Search-R1, in which reasoning degrades before the reward does",
  advice:
    "Look at the newest trajectories (agentrl trace show): if thoughts or searches are gone, go back to the last good step with a lower learning rate or a higher klCoef.",
  options: z.strictObject(shareOfHighest(0.3)),
  window: ({ memory }) => memory,
  check: (lines, options) => fallen(lines, "rollout/completion_tokens", options),
});

/**
 * Messages grew to several times their length within a short time. Some trainings want reasoning to grow over hundreds of steps:
 * the alarm stays silent while each `memory` steps grow by less than the factor.
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
  check: (lines, options) => risen(lines, "rollout/completion_tokens", options),
});
