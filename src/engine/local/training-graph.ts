import { Graph, type Value } from "../../autodiff/graph.ts";
import { backward } from "../../autodiff/backward.ts";
import { gather } from "../../autodiff/ops/indexing.ts";
import { ShapeError } from "../../base/errors.ts";
import { losses } from "../../losses/index.ts";
import type { LossOutput, LossSpec } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { declareParameters, decoderRows, type Layout } from "../../models/decoder.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import type { MicroBatch } from "./batching.ts";
import { SCORES_BYTES, targetScores } from "./target-scores.ts";

/** Prefix of gradient inputs, and of gradient outputs (which end in `.next`). */
export const GRADIENT = "gradient.";
/** Prefix of the inputs that a loss reads. */
export const FIELD = "field.";
/** Prefix of metric outputs. */
export const METRIC = "metric.";

/** Names of the per-token inputs that a loss reads. */
export function lossFields(loss: LossSpec): string[] {
  return ["weights", ...losses.get(loss.name, "loss").fields];
}

/** How a training graph is laid out; matrices are float32 and inputs in both layouts unless told otherwise. */
export interface TrainingGraphOptions extends Partial<Layout> {
  /** Adapters, which alone are trained; null trains every parameter. */
  lora?: LoraConfig | null;
  /** Keep each layer's input alone from forward to backward. */
  recompute?: boolean;
  /** Scores over the vocabulary that may exist at once (see `targetScores`). */
  scoresBytes?: number;
}

/**
 * Forward and, with a loss, backward of one padded shape: the policy's log-probability of each scored target and, added to those
 * that went in, the gradients of all parameters or, with adapters, of those alone.
 *
 * @param loss null for log-probabilities alone.
 */
export function trainingGraph(
  config: DecoderConfig,
  { batch, length, scored }: MicroBatch,
  loss: LossSpec | null,
  options: TrainingGraphOptions = {},
): { graph: Graph; outputs: Record<string, Value> } {
  const { lora = null, recompute = false, scoresBytes = SCORES_BYTES } = options;
  const { transposed = true, frozen = null } = options;
  const graph = new Graph();
  const parameters = declareParameters(graph, config, lora, { transposed, frozen });
  const ids = graph.input("ids", "int32", [batch, length]);
  const positions = graph.input("positions", "int32", [scored]);
  const targets = graph.input("targets", "int32", [scored, 1]);
  const rows = decoderRows(config, parameters, ids, {
    lora,
    recompute: recompute && loss !== null,
  });
  const hidden = gather([rows, positions]); // [K, D]
  const reads = loss === null ? [] : losses.get(loss.name, "loss").reads(loss.options);
  const { logprobs, entropy } = targetScores(parameters, hidden, targets, {
    scoresBytes,
    entropy: reads.includes("entropy"),
    differentiated: loss !== null,
    headTrained: loss !== null && lora === null,
  });
  const outputs: Record<string, Value> = { logprobs };
  if (loss === null) return { graph, outputs };
  const fields = fieldInputs(graph, loss, scored);
  const built = losses
    .get(loss.name, "loss")
    .build({ logprobs, fields, entropy: declared(entropy, "entropy", loss) }, loss.options);
  outputs["loss"] = built.loss;
  for (const [name, value] of Object.entries(built.metrics)) outputs[METRIC + name] = value;
  const trained = trainedSpecs(config, lora).map(({ name }) => parameters.get(name)!);
  const sums = new Map(
    trained.map((each) => [each, graph.input(GRADIENT + each.name, "float32", each.shape)]),
  );
  backward(built.loss, trained, sums).forEach((gradient, i) => {
    outputs[`${GRADIENT}${trained[i]!.name}.next`] = gradient;
  });
  return { graph, outputs };
}

/** What a loss reads, one number for each of `count` targets. */
function fieldInputs(graph: Graph, loss: LossSpec, count: number): Record<string, Value> {
  return Object.fromEntries(
    lossFields(loss).map((name) => [name, graph.input(FIELD + name, "float32", [count, 1])]),
  );
}

/** Gives an output of the model to a loss. */
function declared(value: Value | null, name: LossOutput, loss: LossSpec): () => Value {
  return () => {
    if (value !== null) return value;
    const message = `loss ${loss.name} reads the output "${name}" of the model; its reads() does not name it. Add "${name}" there.`;
    throw new ShapeError("LOSS_READS_UNDECLARED", message);
  };
}
