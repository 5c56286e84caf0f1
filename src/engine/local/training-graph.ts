import { definedValues } from "../../base/defined-values.ts";
import { Graph, type Value } from "../../autodiff/graph.ts";
import { backward } from "../../autodiff/backward.ts";
import { add, mul } from "../../autodiff/ops/elementwise.ts";
import { gather } from "../../autodiff/ops/indexing.ts";
import { ShapeError } from "../../base/errors.ts";
import { losses } from "../../losses/index.ts";
import type { LossOutput, LossOutputs, LossSpec } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import {
  declareParameters,
  decoderRows,
  positionValues,
  type Layout,
  type Recompute,
} from "../../models/decoder.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import { blockPlan, type BlockPlan } from "../../models/row-attention.ts";
import type { MicroBatch } from "./batching.ts";
import { SCORES_BYTES, scorePlan, type ScorePlan, targetScores } from "./target-scores.ts";

/** Lengths of a run: N distinct tokens in B rows of up to T, of which K targets are scored. */
export interface RunLengths extends Pick<MicroBatch, "tokens" | "length" | "scored"> {
  /** B */
  batch: number;
}

/** What of a training graph depends on the lengths of a run other than by its shapes. */
export interface GraphPlan {
  blocks: BlockPlan;
  scores: ScorePlan;
}

/** Prefix of gradient inputs, and of gradient outputs (which end in `.next`). */
export const GRADIENT = "gradient.";
/** Prefix of a loss's inputs. */
export const FIELD = "field.";
/** Input of the graph of a batch with temperatures: 1 / temperature of each scored target, [K, 1]. */
export const INVERSE_TEMPERATURE = "inverseTemperature";
/** Inputs of the tokens' tree (`TokenTree`), and the places of the scored targets' tokens, int32 [K]. */
export const TREE = {
  positions: "tree.positions",
  paths: "tree.paths",
  places: "tree.places",
  steps: "tree.steps",
  cos: "rotary.cos",
  sin: "rotary.sin",
  scored: "scored",
} as const;
/** Prefix of metric outputs. */
export const METRIC = "metric.";

/** Names of the per-token inputs of a loss and of one that is joined to it. */
export function lossFields(loss: LossSpec): string[] {
  const own = ["weights", ...losses.get(loss.name, "loss").fields];
  const { joined } = loss;
  if (joined === undefined) return own;
  const others = lossFields(joined.loss).map((name) =>
    name === "weights" ? joined.weights : name,
  );
  return [...new Set([...own, ...others])];
}

/** What a run without a loss computes of each scored target. */
export type Score = "logprobs" | "values";

/** Layout of a training graph; by default matrices are float32 and inputs in both layouts. */
export interface TrainingGraphOptions extends Partial<Layout> {
  /** Adapters, which are the only trained parameters; null trains every parameter. */
  lora?: LoraConfig | null;
  /** What is computed again instead of being kept from forward to backward; default false: nothing. */
  recompute?: Recompute;
  /** Limit on the bytes of vocabulary scores at once (see `targetScores`). */
  scoresBytes?: number;
  /** How it is divided; by default as its lengths ask for. */
  plan?: GraphPlan;
  /** Some target has a temperature other than 1; default false: the graph has no input for them. */
  tempered?: boolean;
}

/** How a graph for these lengths is divided. */
export function graphPlan(
  config: DecoderConfig,
  { length, scored }: Pick<RunLengths, "length" | "scored">,
  goal: LossSpec | Score,
  { lora = null, scoresBytes = SCORES_BYTES, frozen = null }: TrainingGraphOptions = {},
): GraphPlan {
  const headTrained = typeof goal !== "string" && lora === null;
  const options = { scoresBytes, frozen: frozen !== null, headTrained };
  return { blocks: blockPlan(config, length), scores: scorePlan(config, scored, options) };
}

/**
 * Forward and, with a loss, backward pass over rows as a tree (`TokenTree`). Outputs: log-probability or value of each scored target, and the
 * accumulated gradients (inputs plus new ones) of all parameters or of the adapters. @param goal a loss, or what is computed without one.
 */
export function trainingGraph(
  config: DecoderConfig,
  lengths: RunLengths,
  goal: LossSpec | Score,
  options: TrainingGraphOptions = {},
): { graph: Graph; outputs: Record<string, Value> } {
  const { lora = null, recompute = false, tempered = false } = options;
  const { transposed = true, frozen = null } = options;
  const { plan = graphPlan(config, lengths, goal, options) } = options;
  const { tokens, batch, length, scored } = lengths;
  const loss = typeof goal === "string" ? null : goal;
  const graph = new Graph();
  const parameters = declareParameters(graph, config, lora, { transposed, frozen });
  const table = [length, config.headDim / 2];
  const rows = decoderRows(config, parameters, graph.input("ids", "int32", [tokens]), {
    lora,
    recompute: loss === null ? false : recompute,
    tree: {
      batch,
      length,
      positions: graph.input(TREE.positions, "int32", [tokens]),
      paths: graph.input(TREE.paths, "int32", [batch * length]),
      places: graph.input(TREE.places, "int32", [tokens]),
      steps: graph.input(TREE.steps, "float32", [length]),
      rotary: {
        cos: graph.input(TREE.cos, "float32", table),
        sin: graph.input(TREE.sin, "float32", table),
      },
      plan: plan.blocks,
    },
  });
  const positions = graph.input(TREE.scored, "int32", [scored]);
  const hidden = gather([rows, positions]); // [K, D]
  const reads = typeof goal === "string" ? [goal] : outputsRead(goal);
  const values = reads.includes("values") ? positionValues(parameters, hidden) : null;
  const { logprobs, entropy } = !reads.some((each) => each !== "values")
    ? { logprobs: null, entropy: null }
    : targetScores(
        parameters,
        cooled(hidden, tempered),
        graph.input("targets", "int32", [scored, 1]),
        {
          plan: plan.scores,
          entropy: reads.includes("entropy"),
          differentiated: loss !== null,
          headTrained: loss !== null && lora === null,
        },
      );
  const outputs: Record<string, Value> = definedValues({
    logprobs: logprobs ?? undefined,
    values: loss === null ? (values ?? undefined) : undefined,
  });
  if (loss === null) return { graph, outputs };
  const built = buildLoss(loss, { logprobs, entropy, values }, fieldInputs(graph, loss, scored));
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

/** Hidden states whose scores are divided by the temperature: as in sampling, it is applied to them, because they are smaller. */
function cooled(hidden: Value, tempered: boolean): Value {
  if (!tempered) return hidden;
  const [count = 0] = hidden.shape;
  return mul([hidden, hidden.graph.input(INVERSE_TEMPERATURE, "float32", [count, 1])]);
}

function outputsRead({ name, options, joined }: LossSpec): LossOutput[] {
  const own = losses.get(name, "loss").reads(options);
  return joined === undefined ? [...own] : [...own, ...outputsRead(joined.loss)];
}

/** A loss, with one that is joined to it added. */
export function buildLoss(
  spec: LossSpec,
  outputs: Readonly<Record<LossOutput, Value | null>>,
  fields: Readonly<Record<string, Value>>,
): LossOutputs {
  const output = (name: LossOutput): Value => declared(outputs[name], name, spec);
  const built = losses.get(spec.name, "loss").build(
    {
      get logprobs() {
        return output("logprobs");
      },
      fields,
      entropy: () => output("entropy"),
      values: () => output("values"),
    },
    spec.options,
  );
  if (spec.joined === undefined) return built;
  const { loss, weights } = spec.joined;
  const other = buildLoss(loss, outputs, { ...fields, weights: fields[weights]! });
  return { loss: add([built.loss, other.loss]), metrics: { ...built.metrics, ...other.metrics } };
}

/** A loss's inputs, one number for each of `count` targets. */
export function fieldInputs(graph: Graph, loss: LossSpec, count: number): Record<string, Value> {
  return Object.fromEntries(
    lossFields(loss).map((name) => [name, graph.input(FIELD + name, "float32", [count, 1])]),
  );
}

function declared(value: Value | null, name: LossOutput, loss: LossSpec): Value {
  if (value !== null) return value;
  const message = `loss ${loss.name} uses the model output "${name}", which its reads() does not list. Add "${name}" there.`;
  throw new ShapeError("LOSS_READS_UNDECLARED", message);
}
