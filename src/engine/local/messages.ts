import type { HalfType } from "../../autodiff/frozen.ts";
import type { AdamFactors, AdamOptions } from "../../autodiff/adamw.ts";
import type { SentError } from "../../base/errors.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { Adapter } from "../../models/lora/lora.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import type { Traffic } from "../../onnx/session.ts";
import type { ForwardBackwardResult, SampleRequest, SampleResult, TrainingRow } from "../engine.ts";
import type { MicroBatch } from "./batching.ts";
import type { TrainerMemory } from "./trainer.ts";

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
  /** Hands the gradients so far to all workers; they are then zero. */
  shareGradients: [null, null];
  /** Sums what all have shared over the worker's stretch. Answers Σ g² there. */
  sumGradients: [null, number];
  /** Steps the worker's stretch of the shared weights. */
  stepPart: [AdamFactors, null];
  /** Takes over the shared weights. */
  takeWeights: [null, null];
  /** The whole step, where there is one worker. */
  optimStep: [AdamOptions, { gradNorm: number }];
  readState: [null, TrainingState];
  /** `optimizer: null` starts its moments afresh. */
  writeState: [{ weights: Float32Array; optimizer: OptimizerState | null }, null];
  snapshot: [string, null];
  /** What crossed between host and device since this was last asked. */
  traffic: [null, Traffic];
}

export interface StartOptions {
  config: DecoderConfig;
  /** Folder that the worker reads weights from that are not shared, to where they stay: sent, they would be there twice. */
  base: string;
  /** Adapters that are trained in place of the weights; null trains these. */
  adapter: Adapter | null;
  /** The type of 16 bits in which the base's matrices are held, where adapters are trained; null: float32. */
  frozen: HalfType | null;
  device: DeviceName;
  /** Threads inside one operator. */
  threads: number;
  /** Arrays in which all workers step together; null where there is one. */
  shared: SharedTraining | null;
  /** This worker's number. */
  rank: number;
  slots: number;
  memory: TrainerMemory;
  /** Each token's bytes, one after the other, and where each ends: for stop strings. */
  tokenBytes: { bytes: Uint8Array; ends: Int32Array };
  /** Files of plugins that bring losses: a worker has registries of its own. */
  plugins: readonly string[];
}

/** Arrays over shared memory, each as long as what is trained. */
export interface SharedTraining {
  readonly weights: Float32Array;
  readonly mean: Float32Array;
  readonly square: Float32Array;
  /** One of each worker; the first then holds the sum. */
  readonly gradients: readonly Float32Array[];
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

/** Arrays of a message that go over to the other thread whole; sent like the rest, they would be there two times more on the way. */
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

/** A worker's call for messages: its name and size. @example "sample (812 tokens, at most 500 more to be written)" */
export function describeCall({ call, argument }: Pick<WorkerRequest, "call" | "argument">): string {
  const size = SIZES[call]?.(argument as never);
  return size === undefined ? call : `${call} (${size})`;
}

const batches = ({
  batches: all,
}: Pick<WorkerCalls["logprobs"][0], "batches">): string | undefined => {
  const largest = all.toSorted((a, b) => b.batch * b.length - a.batch * a.length)[0];
  if (largest === undefined) return undefined;
  const { batch, length, scored } = largest;
  const count = all.length === 1 ? "a micro-batch" : `${all.length} micro-batches, the largest`;
  return `${count} of ${batch} × ${length} positions, ${scored} of them scored`;
};

const SIZES: { [K in keyof WorkerCalls]?: (argument: WorkerCalls[K][0]) => string | undefined } = {
  forwardBackward: batches,
  logprobs: batches,
  start: ({ base, slots, device }) => `${base} on ${device}, ${slots} slots`,
  sample: ({ promptIds, maxTokens }) =>
    `${promptIds.length} tokens, at most ${maxTokens} more to be written`,
};
