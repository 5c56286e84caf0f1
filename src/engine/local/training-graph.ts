import { Graph, type Value } from "../../autodiff/graph.ts";
import { backward } from "../../autodiff/backward.ts";
import { targetLogprob } from "../../autodiff/ops/composites.ts";
import { add, exp, mul, neg } from "../../autodiff/ops/elementwise.ts";
import { gather } from "../../autodiff/ops/indexing.ts";
import { logSoftmax } from "../../autodiff/ops/nn.ts";
import { reduceSum } from "../../autodiff/ops/reduce.ts";
import { losses } from "../../losses/index.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { declareParameters, decoderRows, vocabularyScores } from "../../models/decoder.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import type { MicroBatch } from "./batching.ts";

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

/**
 * Forward and, with a loss, backward of one padded shape: the policy's log-probability of each scored target and, added to those
 * that went in, the gradients of all parameters or, with
 * adapters, of those alone.
 *
 * @param loss null for log-probabilities alone.
 */
export function trainingGraph(
  config: DecoderConfig,
  { batch, length, scored }: MicroBatch,
  loss: LossSpec | null,
  lora: LoraConfig | null = null,
): { graph: Graph; outputs: Record<string, Value> } {
  const graph = new Graph();
  const parameters = declareParameters(graph, config, lora);
  const ids = graph.input("ids", "int32", [batch, length]);
  const positions = graph.input("positions", "int32", [scored]);
  const targets = graph.input("targets", "int32", [scored, 1]);
  const hidden = gather([decoderRows(config, parameters, ids, lora), positions]); // [K, D]
  const scores = vocabularyScores(parameters, hidden); // [K, V]
  const logprobs = targetLogprob(scores, targets);
  const outputs: Record<string, Value> = { logprobs };
  if (loss === null) return { graph, outputs };
  const part = losses.get(loss.name, "loss");
  const fields = Object.fromEntries(
    lossFields(loss).map((name) => [name, graph.input(FIELD + name, "float32", [scored, 1])]),
  );
  const built = part.build(
    { logprobs, fields, entropy: () => vocabularyEntropy(scores) },
    loss.options,
  );
  outputs["loss"] = built.loss;
  for (const [name, value] of Object.entries(built.metrics)) outputs[METRIC + name] = value;
  const specs = trainedSpecs(config, lora);
  const gradients = backward(
    built.loss,
    specs.map(({ name }) => parameters.get(name)!),
  );
  specs.forEach(({ name, shape }, i) => {
    const before = graph.input(GRADIENT + name, "float32", shape);
    outputs[`${GRADIENT}${name}.next`] = add([before, gradients[i]!]);
  });
  return { graph, outputs };
}

/** −Σ p ln p over the vocabulary: [K, V] → [K, 1], nats. */
function vocabularyEntropy(scores: Value): Value {
  const logs = logSoftmax([scores], { axis: -1 });
  return reduceSum(mul([neg([exp([logs])]), logs]), [1]);
}
