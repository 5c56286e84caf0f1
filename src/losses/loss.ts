import type { Value } from "../autodiff/graph.ts";
import type { Part } from "../base/registry.ts";
import { parseOptions, type z } from "../base/schema.ts";

/** An output of the model that is computed only for losses that read it; entropy costs a pass over [K, V]. */
export type LossOutput = "entropy" | "values";

/** What a loss sees: named outputs of the model and named fields of the batch, one number per trained token. */
export interface LossInputs {
  /** Log-probability (nats) of each target under the policy: [K, 1]. */
  logprobs: Value;
  /**
   * Entropy (nats) of the whole vocabulary at each token: [K, 1].
   * @throws {ShapeError} LOSS_READS_UNDECLARED where the loss's `reads` does not name it.
   */
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

/** A loss as a graph over named outputs and row fields. */
export interface Loss<S extends z.ZodObject = z.ZodObject> extends Part {
  /** Fields of the batch that it reads beside `weights`. */
  readonly fields: readonly string[];
  /** The model's outputs that it reads beside `logprobs`. */
  reads(options: z.output<S>): readonly LossOutput[];
  /** Whether it reads the field `refLogprobs`: log-probabilities under the weights with which training began. */
  needsReference(options: z.output<S>): boolean;
  readonly options: S;
  /** Paper and section, or repository and file. */
  readonly source: string;
  build(inputs: LossInputs, options: z.output<S>): LossOutputs;
}

/** A loss as its file writes it: without `reads` it reads log-probabilities alone, without `needsReference` no reference. */
type Described<S extends z.ZodObject> = Omit<Loss<S>, "part" | "reads" | "needsReference"> &
  Partial<Pick<Loss<S>, "reads" | "needsReference">>;

/** Types a loss by its options; the result can stand in a registry. */
export function defineLoss<S extends z.ZodObject>(loss: Described<S>): Loss {
  const checked = (given: unknown): z.output<S> =>
    parseOptions(loss.options, given, `loss ${loss.name}`);
  return {
    part: "loss",
    ...loss,
    reads: (options) => loss.reads?.(checked(options)) ?? [],
    needsReference: (options) => loss.needsReference?.(checked(options)) ?? false,
    build: (inputs, options) => loss.build(inputs, checked(options)),
  };
}
