import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RunEvent } from "../../watch/run-event.ts";

/** What is known of a run before it starts. */
export interface RunFacts {
  recipe: string;
  tier: string;
  seed: number;
  /** Run folder. */
  out: string;
}

/** What a run is doing. */
export type Work =
  | { kind: "starting" }
  | { kind: "evaluating"; name: string; done: number; total: number; em: number | null }
  | { kind: "training" }
  /** A stage that draws, or learns from draws. */
  | { kind: "stage"; done: number; total: number | null; note: string };

/** A step, as far as its curves go. */
export interface StepPoint {
  step: number;
  metrics: Readonly<Record<string, number>>;
}

/** Held-out questions, evaluated. */
export interface EvaluationPoint {
  /** `before`, `step-40`, `after`. */
  name: string;
  em: number;
  n: number;
}

/** What was asked for and is done between two steps. */
export interface Asked {
  pause: boolean;
  save: boolean;
  evaluate: boolean;
  stop: boolean;
}

/** A step's rollouts, a few of them. */
export interface Batch {
  step: number;
  /** How many there were. */
  size: number;
  trajectories: readonly Trajectory[];
}

/** All that a frame shows of a run. */
export interface RunView {
  facts: RunFacts;
  /** Where the policy runs; null until it is known. */
  device: string | null;
  /** Of a recipe with stages: the one that runs. */
  stage: { number: number; total: number; name: string; kind: string } | null;
  work: Work;
  /** Steps done of this run, or of this stage. */
  step: number;
  /** null until the first step is done. */
  totalSteps: number | null;
  /** In order; of a run that went back, only what was not taken back. */
  history: readonly StepPoint[];
  evaluations: readonly EvaluationPoint[];
  /** The oldest first. */
  events: readonly RunEvent[];
  batch: Batch | null;
  asked: Asked;
  /** It waits, between two steps, for being told to go on. */
  paused: boolean;
  elapsedMs: number;
  /** Of a step, lately, with all that is done between two; null until two are done. */
  stepMs: number | null;
  /** Until the end, the last evaluation with it; null: not known. */
  leftMs: number | null;
}

/** Metric of tokens sampled and trained a second, which is no metric of the run: it differs between two runs of one seed. */
export const TOKENS_PER_SECOND = "timing/tokens_per_second";
