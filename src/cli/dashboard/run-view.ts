import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RunEvent } from "../../watch/run-event.ts";

/** Facts of a run before it starts. */
export interface RunFacts {
  recipe: string;
  tier: string;
  seed: number;
  /** Run folder. */
  out: string;
  /** Metric of exact match: `reward/exact-match`, or as the recipe renames it. */
  emMetric: string;
}

/** The current work of a run. */
export type Work =
  | { kind: "starting" }
  | { kind: "evaluating"; name: string; done: number; total: number; em: number | null }
  | { kind: "training" }
  /** A stage that draws, or trains on draws. */
  | { kind: "stage"; done: number; total: number | null; note: string };

/** A step's values for the curves. */
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

/** Requests, handled between two steps. */
export interface Asked {
  pause: boolean;
  save: boolean;
  evaluate: boolean;
  stop: boolean;
}

/** Some of a step's rollouts. */
export interface Batch {
  step: number;
  /** Number of all rollouts. */
  size: number;
  trajectories: readonly Trajectory[];
}

/** The state of a run for a frame. */
export interface RunView {
  facts: RunFacts;
  /** The policy's device; null until known. */
  device: string | null;
  /** Current stage of a recipe with stages. */
  stage: { number: number; total: number; name: string; kind: string } | null;
  work: Work;
  /** Completed steps of this run or stage. */
  step: number;
  /** null until the first step is done. */
  totalSteps: number | null;
  /** In order, without rolled-back steps. */
  history: readonly StepPoint[];
  evaluations: readonly EvaluationPoint[];
  /** The oldest first. */
  events: readonly RunEvent[];
  batch: Batch | null;
  asked: Asked;
  /** Whether it is paused between two steps. */
  paused: boolean;
  elapsedMs: number;
  /** Recent milliseconds per step, with all work between two steps; null until two are done. */
  stepMs: number | null;
  /** Milliseconds left, including the last evaluation; null: unknown. */
  leftMs: number | null;
}
