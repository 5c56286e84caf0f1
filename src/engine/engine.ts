import type { AdamOptions } from "../autodiff/adamw.ts";
import type { CallFinish } from "../trajectory/trajectory.ts";
import type { LossSpec } from "../losses/loss.ts";

/**
 * What an algorithm needs of a model: sample, compute log-probabilities, accumulate gradients, step. The shape is that of the
 * Tinker dialect (docs/architecture.md), so that a remote training server is a transport and not a second code path.
 */
export interface Engine {
  readonly capabilities: EngineCapabilities;
  /** Number of optimiser steps taken since the weights were loaded. */
  readonly policyVersion: number;

  /**
   * Continues a prompt. Calls made together are batched; each resolves on its own, so a trajectory that waits for a tool frees
   * its compute. What comes back depends on the request and the weights alone, not on what else runs.
   * @throws {DataError} PROMPT_TOO_LONG when the prompt leaves no room in the context.
   */
  sample(request: SampleRequest): Promise<SampleResult>;
  /** Drops what is kept for a sequence of earlier requests. */
  forget(sequence: string): void;

  /**
   * Log-probabilities (nats, temperature 1) of given targets under a model, of the policy's and of anybody's text.
   * @param model "policy", or a role under which weights were kept.
   * @returns per row, as long as its targets; NaN where the weight is 0.
   * @throws {ConfigError} ENGINE_NO_ROLE when nothing was kept under that name.
   */
  logprobs(rows: readonly TrainingRow[], model?: string): Promise<Float32Array[]>;

  /** Adds the gradients of a loss over rows to those already there. */
  forwardBackward(rows: readonly TrainingRow[], loss: LossSpec): Promise<ForwardBackwardResult>;
  /** One AdamW step on the accumulated gradients, which are then zero. */
  optimStep(adam: AdamOptions): Promise<{ gradNorm: number }>;
  /** Keeps a copy of the current weights under a name: a frozen reference, the previous iterate. */
  snapshot(name: string): Promise<void>;

  /**
   * Writes a Hugging Face folder, or where adapters are trained PEFT's, which names the base; with `optimizer`, also what a resumed
   * run needs.
   */
  save(folder: string, options?: SaveOptions): Promise<void>;
  /** Replaces the weights (and, where the folder has it, the optimiser's state) by a saved folder's. */
  load(folder: string): Promise<void>;
  close(): Promise<void>;
}

export interface EngineCapabilities {
  /** Longest sequence, in tokens. */
  maxPositions: number;
  /** Names of the losses it can run. */
  losses: readonly string[];
}

export interface SampleRequest {
  promptIds: readonly number[];
  /** Most tokens to write. */
  maxTokens: number;
  /** Tokens that end the completion (they are part of it). */
  stopIds: readonly number[];
  /** Texts that end the completion with the token that closes them. */
  stopStrings: readonly string[];
  /** 0 takes the likeliest token. */
  temperature: number;
  /** 1 keeps everything. */
  topP: number;
  /** 0 keeps everything. */
  topK: number;
  /** Added to the scores of token ids; −Infinity forbids. */
  logitBias?: Readonly<Record<number, number>>;
  /** Same seed, prompt and weights: same completion. */
  seed: number;
  /**
   * Requests of one sequence extend each other: what one computed is kept for the next, until `forget`. null: never continued.
   * Kept sequences hold their place; further ones wait for it, so forget what has ended.
   */
  sequence: string | null;
}

export interface SampleResult {
  ids: number[];
  /** Of each id under the distribution that it was drawn from (temperature, top-p, top-k and bias applied); of greedy ones as at temperature 1. */
  logprobs: number[];
  finish: CallFinish;
}

/** One sequence to learn from, pre-shifted: element i of the inputs predicts element i of the targets. */
export interface TrainingRow {
  inputs: readonly number[];
  targets: readonly number[];
  /** As long as the targets. `weights` is the token's share in the loss; tokens of weight 0 are not scored at all. */
  fields: Readonly<{ weights: readonly number[] } & Record<string, readonly number[]>>;
}

export interface ForwardBackwardResult {
  loss: number;
  /** Per row, as long as its targets; NaN where the weight is 0. */
  logprobs: Float32Array[];
  metrics: Record<string, number>;
}

export interface SaveOptions {
  /** Also write moments and step, in float32. */
  optimizer?: boolean;
  /** Element type of the weights on disk; F32 by default, so that a resumed run goes on to the bit. */
  dtype?: "F32" | "F16" | "BF16";
  /** Adapters go into their base: a model that stands alone, without the optimiser's state. Nothing else where there are none. */
  merged?: boolean;
}
