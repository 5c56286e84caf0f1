import type { HalfType } from "../../autodiff/frozen.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { Layout } from "../../models/decoder.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import { parameterCount, parameterSpecs, totalSize } from "../../models/parameters.ts";
import { samplingGraph } from "../../models/sampling-graph.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import { runMemory, type RunMemory } from "../../onnx/run-memory.ts";
import { lengthsUpTo, microBatchShape } from "./batching.ts";
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
  /** Whether log-probabilities are computed before sequences are learned from: graphs of their own. */
  rescores: boolean;
  /** Graphs of training that each worker holds, where a run's steps were gone through; null: as many as lengths and sequences can make. */
  graphs: readonly (readonly HeldGraph[])[] | null;
}

/** A graph of training that stays compiled. */
export interface HeldGraph {
  kind: GraphKind;
  length: number;
}

/** With gradients, or log-probabilities alone. */
export type GraphKind = "learn" | "score";

/** Bytes at the peak of a step, by what takes them. */
export interface MemoryForecast {
  parts: { name: string; bytes: number }[];
  /** All parts together. */
  total: number;
}

/**
 * Node, the runtime's library, the tokenizer, some hundred questions with their index, and what waits to be collected; and of each worker
 * thread, its heap. Measured on Linux x64 (docs/planning.md): heaps grow to this within the first evaluation, whatever the model.
 */
const PROCESS_BYTES = 180e6;
const WORKER_BYTES = 50e6;
/** Of a compiled graph that has run, a node: 3 400 to 5 400 (13 graphs each of six kinds, 631 to 3 241 nodes); what splinters between them counts. */
const NODE_BYTES = 5_000;
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
    { name: "compiled graphs", bytes: graphs },
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

/** Peaks of the largest graphs, and what the compiled ones of all workers hold. */
function runs(load: EngineLoad): { training: number; sampling: number; graphs: number } {
  const { config, lora, slots, rowTokens, workers } = load;
  const longest = trainingRun(load, rowTokens, "learn");
  const capacity = capacityFor(load.samples ? rowTokens : 1);
  const step = samplingGraph(
    config,
    { rows: slots, chunk: 1, capacity },
    { gives: "probabilities", lora, ...layoutOf(load) },
  );
  const stepRun = runMemory(step.graph, step.outputs, (name) => name === "probabilities");
  const sampled = load.samples ? keptGraphs(config).sampling : 1;
  return {
    training: withAllowance(longest.peak, load.recompute),
    sampling: 4 * slots * config.vocabSize + stepRun.peak,
    graphs:
      trainingGraphBytes(load, longest) +
      workers * sampled * (NODE_BYTES * step.graph.nodes.length + stepRun.constants),
  };
}

interface TrainingRun extends RunMemory {
  batch: number;
  nodes: number;
}

/** A run of the largest micro-batch of sequences of so many tokens. */
function trainingRun(load: EngineLoad, tokens: number, kind: GraphKind): TrainingRun {
  const { lora, recompute } = load;
  const shape = microBatchShape(tokens, load.microBatchTokens, load.scoredShare);
  const loss = kind === "learn" ? load.loss : null;
  const options = { lora, recompute, ...layoutOf(load) };
  const { graph, outputs } = trainingGraph(load.config, { rows: [], ...shape }, loss, options);
  const run = runMemory(graph, outputs, (name) => name.startsWith(GRADIENT));
  return { ...run, batch: shape.batch, nodes: graph.nodes.length };
}

/** Shapes that come up for a length: full micro-batches, and the rest of a batch. */
const SHAPES_OF_A_LENGTH = 2;

/**
 * Shapes among so many micro-batches: most are alike. search-r1's mini tier has 5 among a worker's first 9, 17 among 63, 30 among 225, 36
 * among 900.
 */
function shapesAmong(microBatches: number): number {
  return Math.min(microBatches, Math.ceil(2 * Math.sqrt(microBatches)));
}

/** What is compiled for training in all workers: a graph for each shape that comes up, of each kind. */
function trainingGraphBytes(load: EngineLoad, longest: TrainingRun): number {
  const kinds: GraphKind[] = load.rescores ? ["learn", "score"] : ["learn"];
  const room = Math.floor(keptGraphs(load.config).training / kinds.length);
  const shapes = shapesAmong(Math.ceil(load.sequences / longest.batch / load.workers));
  const most = Math.min(room, SHAPES_OF_A_LENGTH * lengthsUpTo(load.rowTokens), shapes);
  return kinds.reduce((sum, kind) => {
    const bytesAt = graphBytes(load, kind, longest);
    if (load.graphs === null) return sum + load.workers * most * bytesAt.mean;
    const held = load.graphs.flat().filter((graph) => graph.kind === kind);
    return held.reduce((bytes, { length }) => bytes + bytesAt.length(length), sum);
  }, 0);
}

/** What a compiled graph of training holds, by its sequences' length, and the mean over lengths that are spread evenly. */
function graphBytes(
  load: EngineLoad,
  kind: GraphKind,
  learned: TrainingRun,
): { mean: number; length: (length: number) => number } {
  const { rowTokens } = load;
  const longest = kind === "learn" ? learned : trainingRun(load, rowTokens, kind);
  // Masks grow with the square of the length, a table's zeros do not.
  const half = trainingRun(load, Math.ceil(rowTokens / 2), kind).constants;
  const fixed = Math.max(0, (4 * half - longest.constants) / 3);
  const square = longest.constants - fixed;
  const nodes = NODE_BYTES * longest.nodes;
  return {
    mean: nodes + fixed + square / 3,
    length: (length) => nodes + fixed + square * (length / rowTokens) ** 2,
  };
}
