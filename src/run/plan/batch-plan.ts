import type { CriticTrunk } from "../../engine/engine.ts";
import { type EngineLoad, largestRun } from "../../engine/local-plan.ts";
import type { LongestSequence } from "./longest-sequence.ts";
import type { LossSpec } from "../../losses/loss.ts";

/** What one step is made of, at most: every trajectory as long as its budgets allow. */
export interface BatchPlan {
  /** The kind of stage that is planned. */
  stage: "train" | "sft";
  /** Questions a step; of a supervised stage, trajectories. */
  prompts: number;
  groupSize: number;
  /** Trajectories of a rollout: several where the strategy branches. */
  leaves: number;
  trajectories: number;
  longest: LongestSequence;
  /** Epochs and minibatches per batch: together the optimiser's steps. */
  epochs: number;
  minibatches: number;
  optimizerSteps: number;
  /** Sequences of the longest kind that are run together, and how often a worker's turn comes in a step, all workers together. */
  microBatch: { sequences: number; perStep: number };
  steps: number;
  /** Tokens in all steps together, at most; padding left out. Evaluations come on top. */
  tokens: { sampled: number; trained: number };
}

/** What a step does, whichever stage runs it. */
export interface Work extends Pick<
  BatchPlan,
  "stage" | "prompts" | "groupSize" | "leaves" | "epochs" | "minibatches" | "steps"
> {
  loss: LossSpec;
  /** Whether tokens that the policy did not write are trained as well. */
  scoresAll: boolean;
  /** Times that log-probabilities of a step's sequences are computed before they are learned from. */
  scorings: number;
  /** Whether the starting policy is kept, for its log-probabilities. */
  readsReference: boolean;
  /** Where the critic is; null: there is none. */
  critic: CriticTrunk | null;
}

/** Tokens of all steps together, at most, padding left out: of what is written, and of what is trained on in every epoch. */
export function tokensOf(
  work: Pick<Work, "stage" | "prompts" | "groupSize" | "leaves" | "epochs" | "steps" | "critic">,
  longest: Pick<LongestSequence, "tokens" | "messages">,
): BatchPlan["tokens"] {
  const { stage, prompts, groupSize, leaves, epochs, steps, critic } = work;
  const trajectories = steps * prompts * groupSize * leaves;
  const models = critic === "own" ? 2 : 1;
  return {
    sampled: stage === "train" ? trajectories * longest.messages.tokens : 0,
    trained: models * epochs * trajectories * longest.tokens,
  };
}

/** The arithmetic of a step of so much work, micro-batches as the engine packs the longest sequences. */
export function batchOf(work: Work, longest: LongestSequence, load: EngineLoad): BatchPlan {
  const { prompts, groupSize, leaves, epochs, minibatches, steps, stage } = work;
  const trajectories = prompts * groupSize * leaves;
  const optimizerSteps = epochs * minibatches;
  const { batch } = largestRun(load.rowTokens, load.microBatchTokens, load.scoredShare);
  // Trajectories are dealt in turn: some parts have one more than others.
  const parts = Array.from({ length: minibatches }, (_, part) =>
    Math.ceil((trajectories - part) / minibatches),
  );
  const perEpoch = parts.reduce((sum, count) => sum + Math.ceil(count / batch), 0);
  return {
    stage,
    prompts,
    groupSize,
    leaves,
    trajectories,
    longest,
    epochs,
    minibatches,
    optimizerSteps,
    microBatch: { sequences: batch, perStep: epochs * perEpoch },
    steps,
    tokens: tokensOf(work, longest),
  };
}
