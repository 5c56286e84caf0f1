import { knownMean } from "../../view/sparkline.ts";
import type { StepPoint } from "./run-view.ts";
import { TOKENS_PER_SECOND } from "./run-view.ts";

/** A metric that the view shows. */
interface ShownMetric {
  label: string;
  metric: string;
  write: (value: number) => string;
  /** Its meaning, for the help. */
  means: string;
  /** Whether training should raise it. */
  isGoal?: true;
  /** Whether its values are from 0 to 1. */
  isShare?: true;
}

const decimals =
  (digits: number) =>
  (value: number): string =>
    value.toFixed(digits);

/** Exact match by its registered name; a recipe may rename it. */
const EXACT_MATCH = "reward/exact-match";

/** For values over many orders of magnitude. */
function scientific(value: number): string {
  return value === 0 ? "0" : value.toExponential(1);
}

/** In the order of importance: a small terminal leaves out the last ones. */
const SHOWN_METRICS: readonly ShownMetric[] = [
  {
    label: "reward",
    metric: "rollout/reward_mean",
    write: decimals(3),
    isGoal: true,
    means: "mean over the step's rollouts",
  },
  {
    label: "EM",
    metric: EXACT_MATCH,
    write: decimals(3),
    isGoal: true,
    isShare: true,
    means: "share of right answers among them",
  },
  {
    label: "loss",
    metric: "losses/sft",
    write: decimals(4),
    means: "of the samples' tokens, nats",
  },
  {
    label: "pair loss",
    metric: "losses/preference",
    write: decimals(4),
    means: "mean over the step's pairs",
  },
  {
    label: "margin",
    metric: "rewards/margin",
    write: decimals(4),
    isGoal: true,
    means: "of the chosen side's reward over the rejected side's",
  },
  {
    label: "held-out loss",
    metric: "validation/loss",
    write: decimals(4),
    means: "of held-out samples, nats",
  },
  {
    label: "held-out EM",
    metric: "validation/em",
    write: decimals(3),
    isGoal: true,
    isShare: true,
    means: "share of right answers to held-out questions",
  },
  {
    label: "entropy",
    metric: "rollout/entropy",
    write: decimals(3),
    means: "of sampled tokens, nats; towards 0 the policy no longer tries",
  },
  {
    label: "KL",
    metric: "losses/kl",
    write: decimals(4),
    means: "from the policy that training began with",
  },
  {
    label: "mismatch KL",
    metric: "mismatch/kl",
    write: scientific,
    means: "between what sampled and what trains: should stay near 0",
  },
  {
    label: "length",
    metric: "rollout/completion_tokens",
    write: decimals(1),
    means: "tokens that the policy writes in a rollout",
  },
  { label: "searches", metric: "rollout/searches", write: decimals(2), means: "in a rollout" },
  {
    label: "duplicates",
    metric: "rollout/duplicate_query_share",
    write: decimals(2),
    isShare: true,
    means: "share of queries that a rollout has asked before",
  },
  {
    label: "flat groups",
    metric: "rollout/zero_variance_share",
    write: decimals(2),
    isShare: true,
    means: "share of questions whose rollouts all earn the same: teach nothing",
  },
  {
    label: "answered",
    metric: "rollout/answer_rate",
    write: decimals(2),
    isShare: true,
    means: "share of rollouts with an answer",
  },
  {
    label: "tokens/s",
    metric: TOKENS_PER_SECOND,
    write: decimals(0),
    means: "sampled and trained",
  },
];

/** A metric's row. */
export interface MetricRow extends Pick<ShownMetric, "label" | "means" | "isShare"> {
  value: string;
  /** With its sign; empty before the second step. */
  change: string;
  /** Whether the change is good or bad. */
  trend: "better" | "worse" | "neutral";
  /** One per step; NaN if a step lacks it. */
  values: readonly number[];
  metric: string;
}

/** Most steps on each side of a change. */
const COMPARED = 5;

/** The metrics that a run has. @param emMetric the run's own name of exact match. */
export function metricRows(history: readonly StepPoint[], emMetric: string): MetricRow[] {
  return SHOWN_METRICS.flatMap(({ metric: name, write, isGoal, ...shown }) => {
    const metric = name === EXACT_MATCH ? emMetric : name;
    const values = history.map(({ metrics }) => metrics[metric] ?? NaN);
    const known = values.filter((value) => !Number.isNaN(value));
    const last = known.at(-1);
    if (last === undefined) return [];
    const change = changeOf(known);
    const isMove = change !== null && isGoal === true && Number(write(change)) !== 0;
    const trend = !isMove ? "neutral" : change > 0 ? "better" : "worse";
    return [
      {
        ...shown,
        metric,
        values,
        trend,
        value: write(last),
        change: change === null ? "" : signed(change, write),
      },
    ];
  });
}

/** Number of first and of last steps whose means a change compares. */
export function comparedSteps(steps: number): number {
  return Math.min(COMPARED, Math.floor(steps / 2));
}

/**
 * The mean of the last five values minus that of the first five; with fewer than ten values, of each half; null for one value.
 * @example changeOf([1, 2, 4]) // 3
 */
function changeOf(values: readonly number[]): number | null {
  const compared = comparedSteps(values.length);
  if (compared === 0) return null;
  return knownMean(values.slice(-compared)) - knownMean(values.slice(0, compared));
}

/** With its sign; a rounded 0 gets ±. @example signed(-0.25, decimals(2)) // "−0.25" */
function signed(value: number, write: (value: number) => string): string {
  const text = write(Math.abs(value));
  return `${Number(text) === 0 ? "±" : value < 0 ? "−" : "+"}${text}`;
}

/** A change of a share. @example signedShare(-0.25) // "−0.250" */
export function signedShare(value: number): string {
  return signed(value, decimals(3));
}
