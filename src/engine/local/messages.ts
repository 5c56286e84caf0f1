import type { SentError } from "../../base/errors.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { Adapter } from "../../models/lora/lora.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type {
  AdamOptions,
  ForwardBackwardResult,
  SampleRequest,
  SampleResult,
  TrainingRow,
} from "../engine.ts";
import type { MicroBatch } from "./batching.ts";

/** Everything that the main thread may ask of a worker: arguments and answer by name. */
export interface WorkerCalls {
  start: [StartOptions, null];
  sample: [SampleRequest, SampleResult];
  forget: [string, null];
  /** Gives up every request and answers when nothing runs any more: native code must not be cut off in the middle. */
  stop: [null, null];
  logprobs: [
    { rows: readonly TrainingRow[]; batches: readonly MicroBatch[]; model: string },
    Float32Array[],
  ];
  forwardBackward: [
    { rows: readonly TrainingRow[]; batches: readonly MicroBatch[]; loss: LossSpec },
    ForwardBackwardResult,
  ];
  /** Writes the gradients so far, which are then zero, into shared memory. */
  takeGradients: [Float32Array, null];
  /** Adds other workers' gradients to its own and steps; the new weights are written into shared memory. */
  optimStep: [
    { adam: AdamOptions; others: readonly Float32Array[]; publish: Float32Array },
    { gradNorm: number },
  ];
  setWeights: [Float32Array, null];
  keepAs: [string, null];
  readState: [null, TrainingState];
  /** `optimizer: null` starts its moments afresh. */
  writeState: [{ weights: Float32Array; optimizer: OptimizerState | null }, null];
}

export interface StartOptions {
  config: DecoderConfig;
  /** In the order of `parameterSpecs`. */
  weights: Float32Array;
  /** Adapters that are trained in place of the weights; null trains these. */
  adapter: Adapter | null;
  /** Threads inside one operator. */
  threads: number;
  slots: number;
  /** Each token's bytes, one after the other, and where each ends: for stop strings. */
  tokenBytes: { bytes: Uint8Array; ends: Int32Array };
}

export interface OptimizerState {
  mean: Float32Array;
  square: Float32Array;
  step: number;
}

export interface TrainingState {
  /** What is trained, in the order of `trainedSpecs`. */
  weights: Float32Array;
  optimizer: OptimizerState;
}

export interface WorkerRequest<K extends keyof WorkerCalls = keyof WorkerCalls> {
  id: number;
  call: K;
  argument: WorkerCalls[K][0];
}

export type WorkerReply = { id: number; answer: unknown } | { id: number; failure: SentError };
