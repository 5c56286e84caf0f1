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
/** Prefix of a loss's inputs. */
export const FIELD = "field.";
/** Prefix of metric outputs. */
export const METRIC = "metric.";

/** Names of a loss's per-token inputs. */
export function lossFields(loss: LossSpec): string[] {
  return ["weights", ...losses.get(loss.name, "loss").fields];
}

/** Layout of a training graph; by default matrices are float32 and inputs in both layouts. */
export interface TrainingGraphOptions extends Partial<Layout> {
  /** Adapters, which are the only trained parameters; null trains every parameter. */
  lora?: LoraConfig | null;
  /** Keep only each layer's input from forward to backward. */
  recompute?: boolean;
  /** Limit on the bytes of vocabulary scores at once (see `targetScores`). */
  scoresBytes?: number;
}

/**
 * Forward and, with a loss, backward pass for one padded shape. Outputs: the policy's log-probability of each scored target, and the
 * accumulated gradients (inputs plus new ones) of all parameters or, with adapters, of the adapters.
 *
 * @param loss null for log-probabilities only.
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

/** A loss's inputs, one number for each of `count` targets. */
function fieldInputs(graph: Graph, loss: LossSpec, count: number): Record<string, Value> {
  return Object.fromEntries(
    lossFields(loss).map((name) => [name, graph.input(FIELD + name, "float32", [count, 1])]),
  );
}

/** Passes a model output to a loss, if its `reads` lists it. */
function declared(value: Value | null, name: LossOutput, loss: LossSpec): () => Value {
  return () => {
    if (value !== null) return value;
    const message = `loss ${loss.name} uses the model output "${name}", which its reads() does not list. Add "${name}" there.`;
    throw new ShapeError("LOSS_READS_UNDECLARED", message);
  };
}
