import type { LearnedData, SampleFacts } from "../train/run-events.ts";
import type { OpenTraining, TrainingEnd } from "../train/training-method.ts";

/** A measurement during training. */
export interface SftCheck {
  /** Optimiser steps before it. */
  step: number;
  /** Mean negative log-likelihood of the held-out samples' tokens, nats; null where there are none. */
  loss: number | null;
  /** Exact match on held-out questions; null where none are asked. */
  em: number | null;
}

export interface SftResult {
  /** Folder of the policy alone, in half precision. */
  policy: string;
  /** That the policy was made of. */
  checkpoint: string;
  /** Steps done in all. */
  steps: number;
  /** Mean loss of the last step's tokens, nats; null where no step was left. */
  loss: number | null;
  /** Whether it ended before its last step, because held-out data were learned no better. */
  stoppedEarly: boolean;
  /** What was learned from and measured on; null: a stream. */
  samples: { train: SampleFacts; validation: SampleFacts | null } | null;
  /** Measurements at the start, at the end, and of the policy that was kept; null where there are none. */
  validation: { before: SftCheck; last: SftCheck; kept: SftCheck } | null;
}

/** What differs between the two kinds of data. */
export type OpenSft = Pick<
  OpenTraining<SftResult>,
  "engine" | "totalSteps" | "data" | "held" | "openProgress" | "measure" | "train"
> & {
  learned: Extract<LearnedData, { kind: "samples" }> | null;
  validation: (end: TrainingEnd) => SftResult["validation"];
};
