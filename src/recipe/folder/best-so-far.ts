import type { MetricsLine } from "../../watch/metrics-line.ts";

/** The best checkpoint so far, by what its steps came to; a function of the metrics alone. */
export interface BestSoFar {
  add(line: MetricsLine): void;
  /** null: no checkpoint yet. */
  readonly best: { step: number; value: number } | null;
}

/** EM on held-out questions, where a step was evaluated. */
export const HELD_OUT_EM = "eval/em";
const REWARD = "rollout/reward_mean";

/**
 * Compares the checkpoints of a training: by EM on held-out questions where the run is evaluated on the way (`usesEvaluations`), else
 * by the mean reward of the steps since the checkpoint before. Of equal ones the earlier is the better.
 *
 * @param every steps between checkpoints. Those that an interruption or a wish made between are not compared: a resumed run has the
 *   best that an uninterrupted one has.
 */
export function openBestSoFar(options: { every: number; usesEvaluations: boolean }): BestSoFar {
  const { every, usesEvaluations } = options;
  let best: BestSoFar["best"] = null;
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
      return best;
    },
  };
}
