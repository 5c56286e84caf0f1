import type { HalfType } from "../../autodiff/frozen.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { Layout } from "../../models/decoder.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import { parameterCount, parameterSpecs, totalSize } from "../../models/parameters.ts";
import { samplingGraph } from "../../models/sampling-graph.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import { runMemory, type RunMemory } from "../../onnx/run-memory.ts";
import { microBatchShape } from "./batching.ts";
import { capacityFor, capacityStep } from "./cached-steps.ts";
import { keptGraphs } from "./compiled.ts";
import { keepsTransposed } from "./model-weights.ts";
import { GRADIENT, trainingGraph } from "./training-graph.ts";

/** What a run of the local engine is made of, as far as its memory depends on it. */
export interface EngineLoad {
  config: DecoderConfig;
  /** null: every parameter is trained. */
  lora: LoraConfig | null;
  /** The type of 16 bits in which matrices are held where they lie under adapters; null: float32. */
  frozen: HalfType | null;
  /** What `frozen` can be without rounding: the type that they are stored in, where the device holds it. */
  lossless: HalfType | null;
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

/**
 * Node, the runtime's library, the tokenizer, some hundred questions with their index, and what waits to be collected; and of each worker
 * thread, its heap. Measured on Linux x64: what `agentrl train` holds after its first evaluation, all else here taken off.
 */
const PROCESS_BYTES = 180e6;
const WORKER_BYTES = 25e6;
/** Of a compiled graph that has run, a node: 3 400 to 5 400 (13 graphs each of six kinds, 631 to 3 241 nodes). */
const NODE_BYTES = 4_500;
/** Buffers below glibc's largest threshold for mapping lie in its heap, which splinters where many come and go. */
const RECOMPUTE_ALLOWANCE = 1.12;

/** What a process holds at the peak of a training run that was planned to take so much. */
export function withAllowance(planned: number, recompute: boolean): number {
  return planned * (recompute ? RECOMPUTE_ALLOWANCE : 1);
}

/**
 * Forecasts the memory of a training step: on the processor, of the whole process; on a device with memory of its own, there.
 * Activations are found by planning the largest graph that will run (`runMemory`), everything else is counted.
 */
export function forecastMemory(load: EngineLoad): MemoryForecast {
  const { config, lora, workers } = load;
  const resident = load.device === "webgpu";
  const trained = 4 * totalSize(trainedSpecs(config, lora));
  const model = modelBytes(load);
  // Several workers sum and step in arrays that they share; one steps its own.
  const shared = workers === 1 ? 0 : (1 + workers) * trained;
  const references = load.references * (lora === null ? model : trained);
  const { training, sampling, graphs } = runs(load);
  const shorter = shorterCacheBytes(load);
  // One worker hands copies over to be saved; several have all that in shared memory.
  const saving = workers === 1 && !resident ? 3 * trained : 0;
  const passing = [
    { name: "a training run's activations", bytes: workers * training },
    // A device gives the shorter cache back at once; in the host's memory it waits to be collected, and is counted apart.
    {
      name: "a sampling run's activations",
      bytes: workers * (resident ? Math.max(sampling, shorter) : sampling),
    },
    { name: "copies to be saved", bytes: saving },
  ];
  const parts = [
    { name: "weights", bytes: workers * (model + references + (lora === null ? 0 : trained)) },
    { name: "gradients", bytes: workers * trained + shared },
    { name: "optimiser's moments", bytes: 2 * trained },
    { name: "key/value cache", bytes: workers * cacheBytes(load) },
    { name: "shorter key/value cache before it", bytes: resident ? 0 : workers * shorter },
    // These take turns.
    passing.reduce((most, each) => (each.bytes > most.bytes ? each : most)),
    { name: "compiled graphs", bytes: workers * graphs },
    ...(resident
      ? []
      : [{ name: "the process itself", bytes: PROCESS_BYTES + workers * WORKER_BYTES }]),
  ];
  return { parts, total: parts.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** How matrices are held: of 16 bits only under adapters, and then in one layout. */
function layoutOf({ config, lora, frozen, device }: EngineLoad): Layout {
  const held = lora === null ? null : frozen;
  const transposed = held === null && keepsTransposed(config, { resident: device === "webgpu" });
  return { transposed, frozen: held };
}

function modelBytes(load: EngineLoad): number {
  const { transposed, frozen } = layoutOf(load);
  const matrices = parameterSpecs(load.config).filter(({ shape }) => shape.length === 2);
  const vectors = parameterCount(load.config) - totalSize(matrices);
  const matrixBytes = (frozen === null ? 4 : 2) * (transposed ? 2 : 1);
  return matrixBytes * totalSize(matrices) + 4 * vectors;
}

function cacheBytes({ config, slots, rowTokens, samples }: EngineLoad): number {
  const { layers, kvHeads, headDim } = config;
  return 4 * 2 * layers * slots * kvHeads * headDim * capacityFor(samples ? rowTokens : 1);
}

/** The cache that the last one grew from, by copying it. */
function shorterCacheBytes(load: EngineLoad): number {
  const capacity = capacityFor(load.samples ? load.rowTokens : 1);
  const before = capacity - capacityStep(capacity);
  return (cacheBytes(load) * Math.max(0, before)) / capacity;
}

/** Peaks of the largest graphs, and what the compiled ones hold. */
function runs(load: EngineLoad): { training: number; sampling: number; graphs: number } {
  const { config, lora, recompute, slots, rowTokens } = load;
  const layout = layoutOf(load);
  const train = (tokens: number): TrainingRun => {
    const shape = microBatchShape(tokens, load.microBatchTokens, load.scoredShare);
    const options = { lora, recompute, ...layout };
    const { graph, outputs } = trainingGraph(config, { rows: [], ...shape }, load.loss, options);
    const run = runMemory(graph, outputs, (name) => name.startsWith(GRADIENT));
    return { ...run, batch: shape.batch, nodes: graph.nodes.length };
  };
  const longest = train(rowTokens);
  const capacity = capacityFor(load.samples ? rowTokens : 1);
  const step = samplingGraph(
    config,
    { rows: slots, chunk: 1, capacity },
    { gives: "probabilities", lora, ...layout },
  );
  const stepRun = runMemory(step.graph, step.outputs, (name) => name === "probabilities");
  return {
    training: withAllowance(longest.peak, recompute),
    sampling: 4 * slots * config.vocabSize + stepRun.peak,
    graphs:
      trainingGraphBytes(load, longest, train) +
      4 * (NODE_BYTES * step.graph.nodes.length + stepRun.constants),
  };
}

interface TrainingRun extends RunMemory {
  batch: number;
  nodes: number;
}

/** What is compiled for training: a graph for each length and share of scored tokens that comes up. */
function trainingGraphBytes(
  load: EngineLoad,
  longest: TrainingRun,
  train: (tokens: number) => TrainingRun,
): number {
  const most = Math.min(keptGraphs(load.config).training, Math.ceil(load.rowTokens / 64));
  const run = Math.ceil(load.sequences / longest.batch / load.workers);
  const nodes = NODE_BYTES * longest.nodes;
  if (run < most) return run * (nodes + longest.constants);
  // Masks grow with the square of the length, a table's zeros do not: the mean over evenly spread lengths by Simpson's rule.
  const half = train(Math.ceil(load.rowTokens / 2)).constants;
  const fixed = Math.max(0, (4 * half - longest.constants) / 3);
  return most * (nodes + (fixed + 4 * half + longest.constants) / 6);
}

/** How a load over a budget can be made to fit it. */
export interface Fitting {
  load: EngineLoad;
  forecast: MemoryForecast;
}

/**
 * The load itself where it fits; else with what costs least changed until it does: smaller micro-batches down to one sequence, then layers
 * computed again, then frozen weights in 16 bits where that rounds nothing, then fewer workers, then fewer slots.
 * @returns null where even that does not fit.
 */
export function largestFitting(load: EngineLoad, budget: number): Fitting | null {
  const fitted = (each: EngineLoad): Fitting | null => {
    const forecast = forecastMemory(each);
    return forecast.total <= budget ? { load: each, forecast } : null;
  };
  for (const loads of smallerLoads(load)) {
    // Where not even the least fits, the others need not be planned.
    const least = fitted(loads.at(-1)!);
    if (least === null) continue;
    for (const each of loads.slice(0, -1)) {
      const fitting = fitted(each);
      if (fitting !== null) return fitting;
    }
    return least;
  }
  return null;
}

/** Loads that differ in one setting, the largest first; what is changed beside it costs more from list to list. */
function* smallerLoads(load: EngineLoad): Generator<EngineLoad[]> {
  const again = load.recompute ? load : { ...load, recompute: true };
  const halves = load.lora !== null && load.frozen === null && load.lossless !== null;
  const halved = halves ? { ...again, frozen: load.lossless } : again;
  for (const workers of new Set([load.workers, 1])) {
    for (const each of new Set([load, again, halved])) {
      const sizes = halvings(load.microBatchTokens, load.rowTokens);
      yield sizes.map((microBatchTokens) => ({ ...each, workers, microBatchTokens }));
    }
  }
  const microBatchTokens = Math.min(load.microBatchTokens, load.rowTokens);
  const least = { ...halved, workers: 1, microBatchTokens };
  const slots = halvings(load.slots, 1).slice(1);
  if (slots.length > 0) yield slots.map((each) => ({ ...least, slots: each }));
}

/** A number, its half, a quarter and so on, down to `least`; itself alone where that is more. */
function halvings(number: number, least: number): number[] {
  if (number <= least) return [number];
  return [number, ...halvings(Math.max(least, Math.floor(number / 2)), least)];
}
