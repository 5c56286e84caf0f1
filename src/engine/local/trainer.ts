import type { LossSpec } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import { nextLength, paddedLength } from "../../models/row-attention.ts";
import type { Device } from "../../onnx/device.ts";
import { compileFree, type FreeSession } from "../../onnx/free-lengths.ts";
import { floats, type Tensor } from "../../onnx/session.ts";
import type { ForwardBackwardResult, TrainingRow } from "../engine.ts";
import type { MicroBatch } from "./batching.ts";
import { compiled, mostGraphs } from "./compiled.ts";
import { isSmall, type ModelWeights } from "./model-weights.ts";
import { isTempered, packer, type Place, unpack } from "./packed-run.ts";
import { parameterTensors, type ParameterTensors } from "./parameter-tensors.ts";
import {
  GRADIENT,
  type GraphPlan,
  graphPlan,
  METRIC,
  type RunLengths,
  type Score,
  trainingGraph,
  type TrainingGraphOptions,
} from "./training-graph.ts";

type TrainingSession = FreeSession<"tokens" | "batch" | "block" | "piece">;

/** Runs micro-batches and accumulates gradients. Runs in a worker. */
export interface Trainer {
  /** Sum of gradients since the last clear, in the order of `trainedSpecs`. */
  readonly gradients: ParameterTensors;
  forwardBackward(
    weights: ModelWeights,
    rows: readonly TrainingRow[],
    batches: readonly MicroBatch[],
    loss: LossSpec,
  ): Promise<ForwardBackwardResult>;
  /** Log-probabilities or values, per row, as long as its targets; NaN where a target is not scored. */
  score(
    weights: ModelWeights,
    rows: readonly TrainingRow[],
    batches: readonly MicroBatch[],
    score: Score,
  ): Promise<Float32Array[]>;
}

/** Memory options of the graphs; the weights determine what is trained, and the layouts. */
export type TrainerMemory = Pick<TrainingGraphOptions, "recompute" | "scoresBytes">;

/** @param options.lora the trained adapters; null trains every parameter. gradients: their array in host memory (`parameterTensors`). */
export async function makeTrainer(
  config: DecoderConfig,
  device: Device,
  options: {
    lora: LoraConfig | null;
    memory?: TrainerMemory;
    gradients?: Float32Array | undefined;
  },
): Promise<Trainer> {
  const gradients = await parameterTensors(
    device,
    trainedSpecs(config, options.lora),
    options.gradients,
  );
  const accumulators: Record<string, Tensor> = {};
  const nextAccumulators: Record<string, Tensor> = {};
  for (const [name, tensor] of gradients.tensors) {
    accumulators[GRADIENT + name] = tensor;
    nextAccumulators[`${GRADIENT}${name}.next`] = tensor;
  }
  const once = compiled<TrainingSession>(mostGraphs.training);
  const pack = packer(config);
  /** The graph for rows of this length, with its plan. */
  const sessionFor = async (
    goal: LossSpec | Score,
    lengths: Pick<RunLengths, "length" | "scored">,
    { lora, transposed, frozen }: ModelWeights,
    tempered: boolean,
  ): Promise<{ session: TrainingSession; plan: GraphPlan }> => {
    const layout = { ...options.memory, lora, transposed, frozen, tempered };
    const plan = graphPlan(config, lengths, goal, layout);
    const session = await once(JSON.stringify([plan, goal, lora, frozen, tempered]), () =>
      compileFree(device, ["tokens", "batch", "block", "piece"], ({ block, piece, ...free }) => {
        const { blocks, scores } = plan;
        const shape = { ...free, length: blocks.count * block, scored: scores.pieces * piece };
        return trainingGraph(config, shape, goal, { ...layout, plan });
      }),
    );
    return { session, plan };
  };
  /** Runs a micro-batch over a loss, which accumulates gradients, or without one. */
  const run = async (
    weights: ModelWeights,
    rows: readonly TrainingRow[],
    micro: MicroBatch,
    goal: LossSpec | Score,
  ): Promise<{ outputs: Record<string, Tensor>; places: Place[] }> => {
    const length = paddedLength(micro.length);
    const scored = Math.max(1, micro.scored);
    const tempered = isTempered(rows, micro);
    // Rows grow while a policy learns: the graph for longer ones is there before they are.
    const longer = isSmall(config) ? nextLength(length) : null;
    if (longer !== null && longer <= config.maxPositions)
      await sessionFor(goal, { length: longer, scored }, weights, tempered);
    const { session, plan } = await sessionFor(goal, { length, scored }, weights, tempered);
    const { pieces } = plan.scores;
    const piece = Math.ceil(scored / pieces);
    const lengths = { tokens: micro.tokens, batch: micro.rows.length, piece };
    const shape = { length, scored: pieces * piece, inputNames: session.inputNames };
    const { feeds, places } = pack(rows, micro, shape);
    const isLearning = typeof goal !== "string";
    const outputs = await session.run(
      { ...lengths, block: length / plan.blocks.count },
      { ...weights.feeds, ...(isLearning ? accumulators : {}), ...feeds },
      isLearning ? nextAccumulators : {},
    );
    return { outputs, places };
  };
  const unscored = (rows: readonly TrainingRow[]): Float32Array[] =>
    rows.map((row) => new Float32Array(row.targets.length).fill(NaN));
  return {
    gradients,
    async forwardBackward(weights, rows, batches, loss) {
      const result: ForwardBackwardResult = { loss: 0, logprobs: unscored(rows), metrics: {} };
      for (const batch of batches) {
        const { outputs, places } = await run(weights, rows, batch, loss);
        if (outputs["logprobs"] !== undefined) unpack(outputs["logprobs"], places, result.logprobs);
        result.loss += floats(outputs["loss"]!)[0]!;
        for (const [name, tensor] of Object.entries(outputs)) {
          if (!name.startsWith(METRIC)) continue;
          const metric = name.slice(METRIC.length);
          result.metrics[metric] = (result.metrics[metric] ?? 0) + floats(tensor)[0]!;
        }
      }
      return result;
    },
    async score(weights, rows, batches, score) {
      const result = unscored(rows);
      for (const batch of batches) {
        const { outputs, places } = await run(weights, rows, batch, score);
        unpack(outputs[score]!, places, result);
      }
      return result;
    },
  };
}
