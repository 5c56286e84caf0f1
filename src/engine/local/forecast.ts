import { availableParallelism } from "node:os";
import type { LossSpec } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import { parameterCount, parameterSpecs } from "../../models/parameters.ts";
import { samplingGraph } from "../../models/sampling-graph.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import { runMemory } from "../../onnx/run-memory.ts";
import { microBatchShape } from "./batching.ts";
import { capacityFor } from "./cached-steps.ts";
import { keptGraphs } from "./compiled.ts";
import { keepsTransposed } from "./model-weights.ts";
import { totalSize } from "./parameter-tensors.ts";
import { trainingGraph } from "./training-graph.ts";

/** What a run of the local engine is made of, as far as its memory depends on it. */
export interface EngineLoad {
  config: DecoderConfig;
  /** null: every parameter is trained. */
  lora: LoraConfig | null;
  device: DeviceName;
  workers: number;
  slots: number;
  microBatchTokens: number;
  recompute: boolean;
  /** Tokens of the longest sequence that is trained. */
  rowTokens: number;
  /** Share of its tokens that are scored: written by the policy. */
  scoredShare: number;
  loss: LossSpec;
  /** Weights kept beside those that are trained; adapters need none, their base is there. */
  references: number;
  /** Whether it samples as well: else its cache stays as short as it begins. */
  samples: boolean;
  /** Trained on in the whole run, each time counted: no more shapes are compiled than they make micro-batches. */
  sequences: number;
}

/** Bytes at the peak of a step, by what takes them. */
export interface MemoryForecast {
  parts: { name: string; bytes: number }[];
  /** All parts together. */
  total: number;
}

/** Node, the runtime's library and the tokenizer; and of each worker thread, its heap. Measured on Linux x64. */
const PROCESS_BYTES = 110e6;
const WORKER_BYTES = 25e6;
/** Of a compiled graph, a node. */
const NODE_BYTES = 9_000;
/** Buffers below glibc's largest threshold for mapping lie in its heap, which splinters where many come and go. */
const RECOMPUTE_ALLOWANCE = 1.12;

/**
 * Forecasts the memory of a training step: on the processor, of the whole process; on a device with memory of its own, there.
 * Activations are found by planning the largest graph that will run (`runMemory`), everything else is counted.
 */
export function forecastMemory(load: EngineLoad): MemoryForecast {
  const { config, lora, workers } = load;
  const resident = load.device === "webgpu";
  const all = 4 * parameterCount(config);
  const trained = 4 * totalSize(trainedSpecs(config, lora));
  const matrices = parameterSpecs(config).filter(({ shape }) => shape.length === 2);
  const both = keepsTransposed(config, { resident });
  const model = all + (both ? 4 * totalSize(matrices) : 0);
  // Several workers sum and step in arrays that they share; one steps its own.
  const shared = workers === 1 ? 0 : (1 + workers) * trained;
  const references = load.references * (lora === null ? model : trained);
  const { training, sampling, graphs } = runs(load);
  // One worker hands copies over to be saved; several have all that in shared memory.
  const saving = workers === 1 && !resident ? 3 * trained : 0;
  const passing = [
    { name: "a training run's activations", bytes: workers * training },
    { name: "a sampling run's activations", bytes: workers * sampling },
    { name: "copies to be saved", bytes: saving },
  ];
  const parts = [
    { name: "weights", bytes: workers * (model + references + (lora === null ? 0 : trained)) },
    { name: "gradients", bytes: workers * trained + shared },
    { name: "optimiser's moments", bytes: 2 * trained },
    { name: "key/value cache", bytes: workers * cacheBytes(load) },
    // These take turns.
    passing.reduce((most, each) => (each.bytes > most.bytes ? each : most)),
    { name: "compiled graphs", bytes: workers * graphs },
    ...(resident
      ? []
      : [{ name: "the process itself", bytes: PROCESS_BYTES + workers * WORKER_BYTES }]),
  ];
  return { parts, total: parts.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function cacheBytes({ config, slots, rowTokens, samples }: EngineLoad): number {
  const { layers, kvHeads, headDim } = config;
  return 4 * 2 * layers * slots * kvHeads * headDim * capacityFor(samples ? rowTokens : 1);
}

/** Peaks of the largest graphs, and what the compiled ones hold. */
function runs(load: EngineLoad): { training: number; sampling: number; graphs: number } {
  const { config, lora, recompute, slots, rowTokens } = load;
  const transposed = keepsTransposed(config, { resident: load.device === "webgpu" });
  const shape = microBatchShape(rowTokens, load.microBatchTokens, load.scoredShare);
  const options = { lora, recompute, transposed };
  const train = trainingGraph(config, { rows: [], ...shape }, load.loss, options);
  const trainRun = runMemory(train.graph, train.outputs, (name) => name.startsWith("gradient."));
  const capacity = capacityFor(load.samples ? rowTokens : 1);
  const step = samplingGraph(
    config,
    { rows: slots, chunk: 1, capacity },
    { gives: "probabilities", lora, transposed },
  );
  const stepRun = runMemory(step.graph, step.outputs, (name) => name === "probabilities");
  // While a cache grows, the shorter one is still there.
  const growing = (cacheBytes(load) * capacityFor(Math.max(1, capacity - 256))) / capacity;
  const probabilities = 4 * slots * config.vocabSize;
  // One for each length and share of scored tokens that comes up, and the step's at a few lengths of the cache.
  const lengths = Math.min(
    keptGraphs(config).training,
    Math.ceil(load.sequences / shape.batch / load.workers),
    Math.ceil(rowTokens / 64),
  );
  return {
    training: trainRun.peak * (recompute ? RECOMPUTE_ALLOWANCE : 1),
    sampling: probabilities + Math.max(stepRun.peak, capacity > 256 ? growing : 0),
    graphs:
      lengths * (NODE_BYTES * train.graph.nodes.length + trainRun.constants) +
      4 * (NODE_BYTES * step.graph.nodes.length + stepRun.constants),
  };
}

/** Threads that compute when a recipe does not say: every core has a worker, and another device one in all. */
export function defaultWorkers(device: DeviceName): number {
  return device === "cpu" ? availableParallelism() : 1;
}

/** How a load over a budget can be made to fit it. */
export interface Fitting {
  load: EngineLoad;
  forecast: MemoryForecast;
}

/**
 * The load itself where it fits; else with what costs least changed until it does: smaller micro-batches down to one sequence, then layers
 * computed again, then fewer workers, then fewer slots.
 * @returns null where even that does not fit.
 */
export function largestFitting(load: EngineLoad, budget: number): Fitting | null {
  for (const each of smallerLoads(load)) {
    const forecast = forecastMemory(each);
    if (forecast.total <= budget) return { load: each, forecast };
  }
  return null;
}

function* smallerLoads(load: EngineLoad): Generator<EngineLoad> {
  for (const workers of new Set([load.workers, 1])) {
    for (const recompute of new Set([load.recompute, true])) {
      const changed = { ...load, workers, recompute };
      let { microBatchTokens } = load;
      for (
        ;
        microBatchTokens > load.rowTokens;
        microBatchTokens = Math.floor(microBatchTokens / 2)
      ) {
        yield { ...changed, microBatchTokens };
      }
      yield { ...changed, microBatchTokens: Math.min(load.microBatchTokens, load.rowTokens) };
    }
  }
  const least = { ...load, workers: 1, recompute: true };
  least.microBatchTokens = Math.min(load.microBatchTokens, load.rowTokens);
  for (let slots = Math.floor(load.slots / 2); slots >= 1; slots = Math.floor(slots / 2)) {
    yield { ...least, slots };
  }
}
