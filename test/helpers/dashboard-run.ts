import type { RunView } from "../../src/cli/dashboard/run-view.ts";
import type { RunEvents, RunStep } from "../../src/run/train/run-events.ts";
import { searchTrajectory } from "./report-folder.ts";

/** A step's news: the reward rises by .01 a step, everything else stands still. */
export function madeStep(step: number, totalSteps = 40): RunStep {
  const trajectories = ["a", "b"].map((id) => ({
    ...searchTrajectory({ id: `${step}-${id}`, question: "What is the capital?", em: 1 }),
    reward: 1,
  }));
  return {
    step,
    totalSteps,
    trajectories,
    metrics: {
      "rollout/reward_mean": 0.1 + step / 100,
      "reward/exact-match": 0.1 + step / 100,
      "rollout/entropy": 0.5,
      "losses/kl": 0.001,
      "mismatch/kl": 1e-9,
      "rollout/completion_tokens": 20,
      "rollout/searches": 1,
      "rollout/duplicate_query_share": 0.25,
      "rollout/zero_variance_share": 0.5,
      "rollout/answer_rate": 1,
    },
    timing: { rollout: 400, update: 600, tokensPerSecond: 1000 },
  };
}

/** An evaluation's news. */
export function madeEvaluation(em: number): Parameters<RunEvents["onEvaluation"]>[1] {
  const metrics = { em, f1: em, cover_em: em };
  return { n: 100, metrics, groups: {} } as unknown as Parameters<RunEvents["onEvaluation"]>[1];
}

/** A run that has just begun. */
export const BEGUN: RunView = {
  facts: {
    recipe: "search-r1",
    tier: "mini",
    seed: 1,
    out: "runs/search-r1-mini-seed1",
    emMetric: "reward/exact-match",
  },
  device: "cpu",
  stage: null,
  work: { kind: "starting" },
  step: 0,
  totalSteps: null,
  history: [],
  evaluations: [],
  events: [],
  batch: null,
  paused: false,
  asked: { pause: false, save: false, evaluate: false, stop: false },
  elapsedMs: 2000,
  stepMs: null,
  leftMs: null,
};
