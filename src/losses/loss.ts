import type { Value } from "../autodiff/graph.ts";
import type { Part } from "../base/registry.ts";
import { parseOptions, type z } from "../base/schema.ts";

/** What a loss sees: named outputs of the model and named fields of the batch, one number per trained token. */
export interface LossInputs {
  /** Log-probability (nats) of each target under the policy: [K, 1]. */
  logprobs: Value;
  /** Entropy (nats) of the whole vocabulary at each token: [K, 1]. Built when asked for: it costs a pass over [K, V]. */
  entropy(): Value;
  /** The batch's fields by name, [K, 1] float32; `weights` is always there. Padding tokens have weight 0. */
  fields: Readonly<Record<string, Value>>;
}

export interface LossOutputs {
  /** Σ weight · token loss, one element. Weights carry the aggregation, so that micro-batches simply add up. */
  loss: Value;
  /** Σ weight · something, one element each, by metric name. */
  metrics: Readonly<Record<string, Value>>;
}

/** A loss as data: this goes to a worker, or over the wire. */
export interface LossSpec {
  name: string;
  options: Readonly<Record<string, unknown>>;
}

/** Whether a loss of such options compares with log-probabilities under the weights that training began with. */
export function hasReference(options: Readonly<Record<string, unknown>>): boolean {
  return Number(options["klCoef"] ?? 0) > 0;
}

/** A loss as a graph over named outputs and row fields. */
export interface Loss<S extends z.ZodType = z.ZodType> extends Part {
  /** Fields of the batch that it reads beside `weights`. */
  readonly fields: readonly string[];
  readonly options: S;
  /** Paper and section, or repository and file. */
  readonly source: string;
  build(inputs: LossInputs, options: z.output<S>): LossOutputs;
}

/** Types a loss by its options; the result can stand in a registry. */
export function defineLoss<S extends z.ZodType>(loss: Loss<S>): Loss {
  return {
    ...loss,
    build: (inputs, options) =>
      loss.build(inputs, parseOptions(loss.options, options, `loss ${loss.name}`)),
  };
}
