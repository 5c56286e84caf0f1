import { InternalError } from "../../base/errors.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import type { Device } from "../../onnx/device.ts";
import { floats, tensorOf, type Session, type Tensor } from "../../onnx/session.ts";
import { isScored, type ForwardBackwardResult, TEMPERATURES, type TrainingRow } from "../engine.ts"; // prettier-ignore
import type { MicroBatch } from "./batching.ts";
import { compiled, mostGraphs } from "./compiled.ts";
import type { ModelWeights } from "./model-weights.ts";
import { parameterTensors, type ParameterTensors } from "./parameter-tensors.ts";
import {
  FIELD,
  GRADIENT,
  INVERSE_TEMPERATURE,
  lossFields,
  METRIC,
  type Score,
  trainingGraph,
  type TrainingGraphOptions,
} from "./training-graph.ts";

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
  const once = compiled(mostGraphs.training);
  const session = (
    { batch, length, scored, prefix = 0 }: MicroBatch,
    goal: LossSpec | Score,
    { lora, transposed, frozen }: ModelWeights,
    tempered: boolean,
  ): Promise<Session> =>
    once(JSON.stringify([batch, length, scored, prefix, goal, lora, frozen, tempered]), () => {
      const shape = { rows: [], batch, length, scored, prefix };
      const layout = { ...options.memory, lora, transposed, frozen, tempered };
      const { graph, outputs } = trainingGraph(config, shape, goal, layout);
      return device.compile(graph, outputs);
    });
  const unscored = (rows: readonly TrainingRow[]): Float32Array[] =>
    rows.map((row) => new Float32Array(row.targets.length).fill(NaN));
  return {
    gradients,
    async forwardBackward(weights, rows, batches, loss) {
      const result: ForwardBackwardResult = { loss: 0, logprobs: unscored(rows), metrics: {} };
      for (const batch of batches) {
        const ready = await session(batch, loss, weights, isTempered(rows, batch));
        // A loss's options may disable some of its fields: rows need only those that the graph reads.
        const read = lossFields(loss).filter((name) => ready.inputNames.includes(FIELD + name));
        const { feeds, places } = packMicroBatch(rows, batch, read, ready.inputNames);
        const outputs = await ready.run(
          { ...weights.feeds, ...accumulators, ...feeds },
          nextAccumulators,
        );
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
        const ready = await session(batch, score, weights, isTempered(rows, batch));
        const { feeds, places } = packMicroBatch(rows, batch, [], ready.inputNames);
        const outputs = await ready.run({ ...weights.feeds, ...feeds });
        unpack(outputs[score]!, places, result);
      }
      return result;
    },
  };
}

type Place = { row: number; token: number };

function isTempered(rows: readonly TrainingRow[], { rows: members }: MicroBatch): boolean {
  return members.some((index) => rows[index]?.fields[TEMPERATURES] !== undefined);
}

/** Pads rows to the micro-batch's shape. Padding positions score target 0 at position 0 with weight 0. */
function packMicroBatch(
  rows: readonly TrainingRow[],
  { rows: members, batch, length, scored, prefix = 0 }: MicroBatch,
  fieldNames: readonly string[],
  inputNames: readonly string[],
): { feeds: Record<string, Tensor>; places: Place[] } {
  const ids = new Int32Array(prefix + batch * length);
  const positions = new Int32Array(scored);
  const targets = new Int32Array(scored);
  const fields = fieldNames.map(() => new Float32Array(scored));
  const inverse = new Float32Array(scored).fill(1);
  const places: Place[] = [];
  members.forEach((index, place) => {
    const row = rows[index]!;
    if (place === 0) ids.set(row.inputs.slice(0, prefix));
    ids.set(row.inputs.slice(prefix), prefix + place * length);
    const lacking = fieldNames.find((name) => row.fields[name]?.length !== row.targets.length);
    if (lacking !== undefined) {
      const message = `row ${index}: field "${lacking}" has ${row.fields[lacking]?.length ?? "no"} values for ${row.targets.length} targets; the loss reads ${fieldNames.join(", ")}.`;
      throw new InternalError("LOSS_FIELD_MISSING", message);
    }
    row.targets.forEach((target, token) => {
      if (!isScored(row, token)) return;
      const k = places.length;
      positions[k] = token < prefix ? token : place * length + token;
      targets[k] = target;
      fieldNames.forEach((name, f) => (fields[f]![k] = row.fields[name]![token]!));
      inverse[k] = 1 / (row.fields[TEMPERATURES]?.[token] ?? 1);
      places.push({ row: index, token });
    });
  });
  const feeds: Record<string, Tensor> = {
    ids: tensorOf(ids, prefix === 0 ? [batch, length] : [ids.length]),
    positions: tensorOf(positions, [scored]),
    targets: tensorOf(targets, [scored, 1]),
  };
  if (inputNames.includes(INVERSE_TEMPERATURE))
    feeds[INVERSE_TEMPERATURE] = tensorOf(inverse, [scored, 1]);
  fieldNames.forEach((name, f) => (feeds[FIELD + name] = tensorOf(fields[f]!, [scored, 1])));
  return { feeds, places };
}

function unpack(scores: Tensor, places: readonly Place[], into: Float32Array[]): void {
  const data = floats(scores);
  places.forEach(({ row, token }, k) => (into[row]![token] = data[k]!));
}
