import {
  bestCheck,
  type Check,
  outOfPatience,
  type StoppingRule,
} from "../../algorithms/early-stop.ts";
import type { MetricsLine } from "../../watch/metrics-line.ts";
import type { Progress } from "./training-method.ts";

/** EM on held-out questions, where a step was evaluated. */
export const HELD_OUT_EM = "eval/em";
const REWARD = "rollout/reward_mean";

/**
 * Compares the checkpoints of reinforcement learning: by EM on held-out questions where the run is evaluated on the way
 * (`usesEvaluations`), else by the mean reward of the steps since the checkpoint before. Of equal ones the earlier is the better. The
 * last checkpoint becomes the policy in any case.
 *
 * @param every steps between checkpoints. Those of an interruption or a request are not compared: a resumed run has the best that an
 *   uninterrupted one has.
 */
export function openRewardProgress(options: { every: number; usesEvaluations: boolean }): Progress {
  const { every, usesEvaluations } = options;
  let best: { step: number; value: number } | null = null;
  let rewards: number[] = [];
  return {
    add({ step, metrics }) {
      const reward = metrics[REWARD];
      if (reward !== undefined && !Number.isNaN(reward)) rewards.push(reward);
      if (step % every !== 0) return;
      const mean = rewards.reduce((sum, each) => sum + each, 0) / rewards.length;
      rewards = [];
      const value = usesEvaluations ? metrics[HELD_OUT_EM] : mean;
      if (value === undefined || Number.isNaN(value)) return;
      if (best === null || value > best.value) best = { step, value };
    },
    get best() {
      return best?.step ?? null;
    },
    kept: null,
    get safe() {
      return best?.step ?? 0;
    },
    enough: false,
  };
}

/** Progress by measurements of held-out data, whose metrics are called `validation/…`. */
export interface ValidationProgress extends Progress {
  /** All measurements so far; the first is that of the start. */
  readonly checks: readonly MetricsLine[];
}

/**
 * @param options.metric by which measurements are compared.
 * @param options.keepsBest whether the best checkpoint becomes the policy.
 * @param options.every steps between checkpoints.
 */
export function openValidationProgress(
  options: { metric: string; keepsBest: boolean; every: number } & StoppingRule,
): ValidationProgress {
  const { metric, keepsBest, every, ...rule } = options;
  const checks: MetricsLine[] = [];
  let lastDue = 0;
  const values = (): Check[] =>
    checks.map(({ step, metrics }) => ({ step, value: metrics[metric] ?? NaN }));
  const best = (): number | null =>
    keepsBest ? (bestCheck(values(), rule.better)?.step ?? null) : null;
  return {
    checks,
    add({ step, metrics }) {
      if (step % every === 0) lastDue = step;
      const own = Object.entries(metrics).filter(([name]) => name.startsWith("validation/"));
      if (own.length > 0) checks.push({ step, metrics: Object.fromEntries(own) });
    },
    get best() {
      return best();
    },
    get kept() {
      return best();
    },
    get safe() {
      return best() ?? lastDue;
    },
    get enough() {
      return outOfPatience(values(), rule);
    },
  };
}
