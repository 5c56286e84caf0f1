import type { Value } from "../autodiff/graph.ts";
import { mul } from "../autodiff/ops/elementwise.ts";
import { reduceSum } from "../autodiff/ops/reduce.ts";
import { type PartWithOptions, definer } from "../base/define-part.ts";
import { ConfigError } from "../base/errors.ts";
import { requireReturned } from "../base/registry.ts";

/** A model output that is computed only for losses that read it: values need a critic, the others a pass over [K, V]. */
export type LossOutput = "logprobs" | "entropy" | "values";

/** Input of a graph that a loss may declare (`inputOnce`): 0, 1, 2, … of its K tokens, float32 [K, 1]. */
export const PLACES = "places";

/**
 * Inputs of a loss: model outputs and batch fields by name, one number per trained token. Their number K differs from run to run of one
 * graph: a constant of K numbers, or one computed from K, is an error (GRAPH_NOT_FREE); expand a scalar instead.
 */
export interface LossInputs {
  /**
   * Log-probability (nats) of each target under the policy: [K, 1].
   * @throws {ShapeError} LOSS_READS_UNDECLARED when the loss's `reads` does not list it.
   */
  readonly logprobs: Value;
  /**
   * Entropy (nats) over the vocabulary at each token: [K, 1].
   * @throws {ShapeError} LOSS_READS_UNDECLARED when the loss's `reads` does not list it.
   */
  entropy(): Value;
  /**
   * The critic's value of the state before each target: [K, 1].
   * @throws {ShapeError} LOSS_READS_UNDECLARED when the loss's `reads` does not list it.
   */
  values(): Value;
  /**
   * The batch's fields by name, [K, 1] float32; always includes `weights`. Tokens of a row follow one another, and no row is divided.
   * Padding tokens are 0 in every field.
   */
  fields: Readonly<Record<string, Value>>;
}

export interface LossOutputs {
  /** Σ weight · token loss, one element. The weights contain the aggregation, so the sums of micro-batches simply add. */
  loss: Value;
  /** Σ weight · value, one element each, by metric name. */
  metrics: Readonly<Record<string, Value>>;
}

/** Σ weight · value over a batch's tokens, one element: how every loss and metric becomes one number. */
export function weightedSum(fields: LossInputs["fields"]): (perToken: Value) => Value {
  return (perToken) => reduceSum(mul([perToken, fields["weights"]!]), [0, 1]);
}

/** A loss as plain data, for a worker or for the network. */
export interface LossSpec {
  name: string;
  options: Readonly<Record<string, unknown>>;
  /** A second loss of the same pass, which is added; the field `weights` names is what it sees as `weights`. */
  joined?: { loss: LossSpec; weights: string };
}

/** A loss as a graph over model outputs and batch fields. */
export interface Loss extends PartWithOptions {
  /** Batch fields that it reads besides `weights`. */
  readonly fields: readonly string[];
  /** Model outputs that it reads. */
  reads(options: object): readonly LossOutput[];
  /** Whether it reads the field `refLogprobs`: log-probabilities under the initial weights. */
  needsReference(options: object): boolean;
  /** Paper and section, or repository and file. */
  readonly source: string;
  build(inputs: LossInputs, options: object): LossOutputs;
}

/** Makes a loss; by default it reads log-probabilities and no reference. @throws {ConfigError} PLUGIN_BAD_PART without build or fields. */
export const defineLoss = definer<Loss>()("loss", {
  defaults: { source: "" },
  members: { fields: "list" },
  functions: {
    reads: { at: 0, otherwise: ["logprobs"] },
    needsReference: { at: 0, otherwise: false },
    build: {
      at: 1,
      returned(built: LossOutputs, { what }) {
        requireReturned(what, built, { loss: "object", metrics: "object" });
        for (const [name, value] of Object.entries({ loss: built.loss, ...built.metrics })) {
          requireReturned(`${what}: ${name}`, value, { graph: "object", shape: "list" });
          if (value.shape.every((size) => size === 1)) continue;
          throw new ConfigError(
            "PLUGIN_FAILED",
            `${what} returned ${name} of shape [${value.shape.join(", ")}]: expected one element, the sum of weight · value over all tokens. Correct its code.`,
          );
        }
        return built;
      },
    },
  },
});
