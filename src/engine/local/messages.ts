import type { HalfType } from "../../autodiff/frozen.ts";
import type { AdamMemory } from "../../autodiff/adam-loops.ts";
import type { AdamFactors, AdamOptions } from "../../autodiff/adamw.ts";
import type { SentError } from "../../base/errors.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { Adapter } from "../../models/lora/lora.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import type { Traffic } from "../../onnx/session.ts";
import type { ForwardBackwardResult, SampleRequest, SampleResult, TrainingRow } from "../engine.ts";
import type { MicroBatch } from "./batching.ts";
import type { SamplingWeightType } from "./storage-dtypes.ts";
import type { TrainerMemory } from "./trainer.ts";
import type { Score } from "./training-graph.ts";

/** The calls from the main thread to a worker: argument and answer by name. */
export interface WorkerCalls {
  start: [StartOptions, null];
  sample: [SampleRequest, SampleResult];
  forget: [string, null];
  /** Aborts every request and answers when nothing runs any more, because native code must not be terminated while it runs. */
  stop: [null, null];
  score: [
    { rows: readonly TrainingRow[]; batches: readonly MicroBatch[]; model: string; score: Score },
    Float32Array[],
  ];
  forwardBackward: [
    { rows: readonly TrainingRow[]; batches: readonly MicroBatch[]; loss: LossSpec },
    ForwardBackwardResult,
  ];
  shareGradients: [null, null];
  /** Sums all workers' gradients over this worker's range. Answers Σ g² of the range. */
  sumGradients: [null, number];
  stepPart: [AdamFactors, null];
  takeWeights: [null, null];
  optimStep: [AdamOptions, { gradNorm: number }];
  readState: [null, TrainingState];
  /** `optimizer: null` resets the moments. */
  writeState: [{ weights: Float32Array; optimizer: OptimizerState | null }, null];
  snapshot: [string, null];
  traffic: [null, Traffic];
}

export interface StartOptions {
  config: DecoderConfig;
  /** Folder from which the worker reads unshared weights directly; messages would copy them. */
  base: string;
  adapter: Adapter | null;
  /** 16-bit dtype of the base's matrices under adapters; null: float32. */
  frozen: HalfType | null;
  sampling: SamplingWeightType;
  device: DeviceName;
  threads: number;
  /** Arrays for the common optimizer step of several workers; null for one worker. */
  shared: SharedTraining | null;
  rank: number;
  slots: number;
  memory: TrainerMemory;
  /** Concatenated bytes of all tokens, and the end of each: for stop strings. */
  tokenBytes: { bytes: Uint8Array; ends: Int32Array };
  /** Plugin files with losses, because each worker has its own registries. */
  plugins: readonly string[];
}

/** Shared-memory arrays, each with one element per trained number. */
export interface SharedTraining {
  readonly weights: Float32Array;
  readonly mean: Float32Array;
  readonly square: Float32Array;
  /** One per worker; the first then contains the sum. */
  readonly gradients: readonly Float32Array[];
  readonly memory: AdamMemory | null;
}

export type OptimizerState = { mean: Float32Array; square: Float32Array; step: number };

export type TrainingState = { weights: Float32Array; optimizer: OptimizerState };

/** Arrays that a message transfers to the other thread, because copies would need twice their memory on the way. */
export function handedOver(call: keyof WorkerCalls, message: unknown): ArrayBuffer[] {
  if (call !== "readState" && call !== "writeState") return [];
  const { weights, optimizer } = message as WorkerCalls["writeState"][0];
  const arrays = [weights, ...(optimizer === null ? [] : [optimizer.mean, optimizer.square])];
  return arrays.map(({ buffer }) => buffer).filter((buffer) => buffer instanceof ArrayBuffer);
}

export interface WorkerRequest<K extends keyof WorkerCalls = keyof WorkerCalls> {
  id: number;
  call: K;
  argument: WorkerCalls[K][0];
}

export type WorkerReply = { id: number; answer: unknown } | { id: number; failure: SentError };

/** Name and size of a worker's call, for messages. @example "sample (812 tokens, at most 500 more to be written)" */
export function describeCall({ call, argument }: Pick<WorkerRequest, "call" | "argument">): string {
  const size = SIZES[call]?.(argument as never);
  return size === undefined ? call : `${call} (${size})`;
}

const batches = ({
  batches: all,
}: Pick<WorkerCalls["score"][0], "batches">): string | undefined => {
  const largest = all.toSorted((a, b) => b.tokens - a.tokens)[0];
  if (largest === undefined) return undefined;
  const { rows, tokens, scored } = largest;
  const count = all.length === 1 ? "a micro-batch" : `${all.length} micro-batches, the largest`;
  return `${count} of ${tokens} tokens in ${rows.length} rows, ${scored} of them scored`;
};

const SIZES: { [K in keyof WorkerCalls]?: (argument: WorkerCalls[K][0]) => string | undefined } = {
  forwardBackward: batches,
  score: batches,
  start: ({ base, slots, device }) => `${base} on ${device}, ${slots} slots`,
  sample: ({ promptIds, maxTokens }) =>
    `${promptIds.length} tokens, at most ${maxTokens} more to be written`,
};
