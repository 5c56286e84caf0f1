import type { HalfType } from "../../autodiff/frozen.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { Layout, Recompute } from "../../models/decoder.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import { parameterCount, parameterSpecs, totalSize } from "../../models/parameters.ts";
import { hostSamplingGraph } from "../../models/host-sampling-graph.ts";
import { int8Matrices, quantisingGraph } from "../../models/int8/matrices.ts";
import { samplingGraph } from "../../models/sampling-graph.ts";
import { isResident, type DeviceName } from "../../onnx/device-names.ts";
import { blockCounts, paddedLength } from "../../models/row-attention.ts";
import { runMemory, type RunMemory } from "../../onnx/run-memory.ts";
import type { CriticTrunk } from "../engine.ts";
import { largestRun } from "./batching.ts";
import { HELD_PER_ROW, LONGEST_CHUNK } from "./cached-model.ts";
import { ROW_GROUPS } from "./kv-cache.ts";
import { capacityFor, capacityStep } from "./cached-steps.ts";
import { keptGraphs, mostGraphs } from "./compiled.ts";
import { keepsTransposed, packsForSampling } from "./model-weights.ts";
import type { SamplingWeightType } from "./storage-dtypes.ts";
import { GRADIENT, type Score, trainingGraph } from "./training-graph.ts";

/** The settings of a run that determine its memory. */
export interface EngineLoad {
  config: DecoderConfig;
  lora: LoraConfig | null;
  /** 16-bit dtype of frozen matrices under adapters; null: float32. */
  frozen: HalfType | null;
  /** The value of `frozen` without rounding: the checkpoint's dtype, if the device supports it. */
  lossless: HalfType | null;
  /** Matrices that sampling uses. */
  sampling: SamplingWeightType;
  device: DeviceName;
  workers: number;
  slots: number;
  microBatchTokens: number;
  recompute: Recompute;
  rowTokens: number;
  /** Share of its tokens that are scored (written by the policy). */
  scoredShare: number;
  loss: LossSpec;
  critic: CriticTrunk | null;
  /** Number of weight copies besides the trained weights; adapters need none, because their base is the reference. */
  references: number;
  samples: boolean;
  /** Sequences trained in the whole run, with repetitions; their micro-batches bound the number of compiled shapes. */
  sequences: number;
  /** What is computed of a batch before it is trained, which needs further graphs; null: nothing. */
  scores: Score | null;
}

type GraphKind = "learn" | "score";

/** Peak bytes of a step, by purpose. */
export type MemoryForecast = { parts: { name: string; bytes: number }[]; total: number };

/** Fixed costs: Node, runtime, tokenizer, some hundred questions, garbage; and the heap of each worker. Measured: docs/devices.md. */
const PROCESS_BYTES = 180e6;
const WORKER_BYTES = 50e6;
/** Per node of a compiled graph that has run: 3 400 to 5 400 (13 graphs each of six kinds, 631 to 3 241 nodes), with fragmentation. */
const NODE_BYTES = 5_000;
/** Buffers below glibc's largest mmap threshold are in its heap, which fragments when many are allocated and freed. */
const RECOMPUTE_ALLOWANCE = 1.16;

/** The expected memory of a process whose planned memory is this. */
export function withAllowance(planned: number, recompute: Recompute): number {
  return planned * (recompute !== false ? RECOMPUTE_ALLOWANCE : 1);
}

/** Forecasts the memory of a training step: of the process on a CPU, else of the device. Activations come from the largest graph's plan. */
export function forecastMemory(load: EngineLoad): MemoryForecast {
  if (load.critic !== "own") return forecastModel(load);
  const policy = forecastModel({ ...load, critic: null });
  const critic = { name: "critic", bytes: besideThePolicy(forecastModel(criticLoad(load)).parts) };
  return { parts: [...policy.parts, critic], total: policy.total + critic.bytes };
}

/** A critic with its own decoder: it never samples, and scores no vocabulary. */
function criticLoad(load: EngineLoad): EngineLoad {
  const { config, lora } = load;
  return {
    ...load,
    ...(lora === null
      ? { config: { ...config, valueHead: "instead" as const } }
      : { lora: { ...lora, valueHead: true as const } }),
    critic: null,
    loss: { name: "value", options: {} },
    references: 0,
    slots: 1,
    samples: false,
    sampling: "float32" as const,
    scores: "values" as const,
  };
}

function besideThePolicy(parts: MemoryForecast["parts"]): number {
  return sumOf(parts.filter(({ name }) => name !== PROCESS_PART));
}

function forecastModel(load: EngineLoad): MemoryForecast {
  const { training, sampling, packed, graphs } = runs(load);
  const cache = cacheParts(load);
  // Only one of these phases is alive at a time.
  const phases = [
    [{ name: "a training run's activations", bytes: load.workers * training }, ...cache.training],
    [
      ...cache.sampling,
      { name: "a sampling run's activations", bytes: load.workers * sampling },
      { name: "packed matrices", bytes: load.workers * packed },
    ],
    [{ name: "copies for saving", bytes: savingBytes(load) }],
  ];
  const parts = [
    ...heldParts(load),
    ...phases.reduce((most, each) => (sumOf(each) > sumOf(most) ? each : most)),
    { name: "compiled graphs", bytes: graphs },
  ];
  return { parts, total: sumOf(parts) };
}

function savingBytes({ config, lora, workers, device }: EngineLoad): number {
  return workers === 1 && !isResident(device) ? 3 * 4 * totalSize(trainedSpecs(config, lora)) : 0;
}

/** Bytes that a load needs before any graph runs: a lower bound of the forecast, which is found without building a graph. */
export function leastMemory(load: EngineLoad): number {
  const held = sumOf(heldParts(load));
  return load.critic === "own" ? held + besideThePolicy(heldParts(criticLoad(load))) : held;
}

function sumOf(parts: MemoryForecast["parts"]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

const PROCESS_PART = "the process itself";

function heldParts(load: EngineLoad): MemoryForecast["parts"] {
  const { config, lora, workers } = load;
  const trained = 4 * totalSize(trainedSpecs(config, lora));
  const model = modelBytes(load);
  // Several workers use shared arrays; a single worker has its own.
  const shared = workers === 1 ? 0 : (1 + workers) * trained;
  const references = load.references * (lora === null ? model : trained);
  return [
    { name: "weights", bytes: workers * (model + references + (lora === null ? 0 : trained)) },
    { name: "gradients", bytes: workers * trained + shared },
    { name: "optimiser's moments", bytes: 2 * trained },
    ...cacheParts(load).always,
    // Kept under adapters; without them garbage that is not collected at once.
    ...(load.sampling === "int8"
      ? [{ name: "matrices of 8 bits", bytes: workers * matrixSize(load.config) }]
      : []),
    ...(isResident(load.device)
      ? []
      : [{ name: PROCESS_PART, bytes: PROCESS_BYTES + workers * WORKER_BYTES }]),
  ];
}

/** What keys and values take. Device memory holds the whole cache always; in host memory it grows by array, and is empty while training. */
function cacheParts(
  load: EngineLoad,
): Record<"always" | "training" | "sampling", MemoryForecast["parts"]> {
  const cache = (of: EngineLoad) => ({
    name: "key/value cache",
    bytes: load.workers * cacheBytes(of),
  });
  const whole = cache(load);
  if (isResident(load.device)) return { always: [whole], training: [], sampling: [] };
  const array = whole.bytes / HELD_PER_ROW / (2 * load.config.layers);
  return {
    always: [],
    training: [cache({ ...load, samples: false })],
    sampling: [whole, { name: "an array of it before it grew", bytes: array }],
  };
}

/** Layout of matrices: 16-bit only under adapters, and then a single layout. */
function layoutOf({ config, lora, frozen, device }: EngineLoad): Layout {
  const held = lora === null ? null : frozen;
  const transposed = held === null && keepsTransposed(config, { resident: isResident(device) });
  return { transposed, frozen: held };
}

function modelBytes(load: EngineLoad): number {
  const { transposed, frozen } = layoutOf(load);
  const matrices = matrixSize(load.config);
  const vectors = parameterCount(load.config) - matrices;
  const matrixBytes = (frozen === null ? 4 : 2) * (transposed ? 2 : 1);
  return matrixBytes * matrices + 4 * vectors;
}

function matrixSize(config: DecoderConfig): number {
  return totalSize(parameterSpecs(config).filter(({ shape }) => shape.length === 2));
}

function cacheBytes({ config, slots, rowTokens, samples, device }: EngineLoad): number {
  const { layers, kvHeads, headDim } = config;
  const held = isResident(device) ? slots : HELD_PER_ROW * slots;
  return 4 * 2 * layers * held * kvHeads * headDim * capacityFor(samples ? rowTokens : 1);
}

/** On a device the cache before the last one, from which that was copied. */
function shorterCacheBytes(load: EngineLoad): number {
  const capacity = capacityFor(load.samples ? load.rowTokens : 1);
  const before = capacity - capacityStep(capacity);
  return (cacheBytes(load) * Math.max(0, before)) / capacity;
}

function runs(load: EngineLoad): Record<"training" | "sampling" | "packed" | "graphs", number> {
  const { rowTokens, workers } = load;
  const longest = trainingRun(load, rowTokens, "learn");
  const sampling = isResident(load.device) ? residentSampling(load) : hostSampling(load);
  return {
    training: withAllowance(longest.peak, load.recompute),
    sampling: sampling.run,
    packed: sampling.packed,
    graphs: trainingGraphBytes(load, longest) + workers * sampling.graphs,
  };
}

type SamplingBytes = { run: number; graphs: number; packed: number };

function residentSampling(load: EngineLoad): SamplingBytes {
  const { config, lora, slots } = load;
  const capacity = capacityFor(load.samples ? load.rowTokens : 1);
  const { graph, outputs } = samplingGraph(
    config,
    { rows: slots, chunk: 1, capacity, slots },
    { gives: "probabilities", lora, ...layoutOf(load) },
  );
  const { peak, constants } = runMemory(graph, outputs, (name) => name === "probabilities");
  const { length: nodes } = graph.nodes;
  const kept = load.samples ? keptGraphs(mostGraphs.sampling, nodes) : 1;
  return {
    run: Math.max(4 * slots * config.vocabSize + peak, shorterCacheBytes(load)),
    graphs: kept * (NODE_BYTES * nodes + constants),
    packed: 0,
  };
}

/** One graph for steps of all slots and for prompts. */
function hostSampling(load: EngineLoad): SamplingBytes {
  const { config, lora, slots, samples, rowTokens } = load;
  const capacity = capacityFor(samples ? rowTokens : 1);
  const layout = layoutOf(load);
  const int8 = load.sampling === "int8" ? "int8" : null;
  const packed = int8 !== null || packsForSampling(layout, { resident: false });
  const others = Array.from({ length: ROW_GROUPS - 1 }, () => ({ rows: 0, capacity: 0 }));
  const groupsOf = (rows: number) => [...others, { rows, capacity }];
  const step = { groups: groupsOf(slots), chunk: 1, sampled: slots };
  const prompt = { groups: groupsOf(1), chunk: LONGEST_CHUNK, sampled: 0 };
  const [first, second] = [step, prompt].map((shape) => {
    const { graph, outputs } = hostSamplingGraph(config, shape, { lora, packed, int8, ...layout });
    const memory = runMemory(graph, outputs, (name) => name === "probabilities");
    return { ...memory, nodes: graph.nodes.length };
  }) as [RunMemory & { nodes: number }, RunMemory];
  const quantising = int8 === null ? 0 : quantisingPeak(config);
  // The embedding's rows are read from the weights; only as an output matrix it is packed too.
  return {
    run: Math.max(
      4 * slots * config.vocabSize + (samples ? Math.max(first.peak, second.peak) : first.peak),
      quantising,
    ),
    graphs: NODE_BYTES * first.nodes + first.constants,
    packed: packed ? (int8 === null ? 4 : 1) * matrixSize(config) : 0,
  };
}

function quantisingPeak(config: DecoderConfig): number {
  const { graph, outputs } = quantisingGraph(
    config,
    int8Matrices(config).at(-1)!,
    "float32",
    "int8",
  );
  return runMemory(graph, outputs, () => false).peak;
}

interface TrainingRun extends RunMemory {
  batch: number;
  nodes: number;
}

function trainingRun(load: EngineLoad, tokens: number, kind: GraphKind): TrainingRun {
  const { lora, recompute } = load;
  const run = largestRun(tokens, load.microBatchTokens, load.scoredShare);
  const shape = { ...run, length: paddedLength(run.length) };
  const goal = kind === "learn" ? load.loss : (load.scores ?? "logprobs");
  const options = { lora, recompute, ...layoutOf(load) };
  const { graph, outputs } = trainingGraph(load.config, shape, goal, options);
  const memory = runMemory(graph, outputs, (name) => name.startsWith(GRADIENT));
  return { ...memory, batch: shape.batch, nodes: graph.nodes.length };
}

function trainingGraphBytes(load: EngineLoad, longest: TrainingRun): number {
  const scoring = load.scores === null ? [] : [trainingRun(load, load.rowTokens, "score")];
  const kinds = [longest, ...scoring];
  const nodes = kinds.reduce((sum, each) => sum + each.nodes, 0);
  const room = keptGraphs(Math.floor(mostGraphs.training / kinds.length), nodes);
  // One graph for each number of blocks that rows divide into, and no more than there are runs.
  const runs = Math.ceil(load.sequences / longest.batch / load.workers);
  const most = Math.min(room, blockCounts(load.rowTokens), runs);
  const constants = kinds.reduce((sum, each) => sum + each.constants, 0);
  return load.workers * most * (NODE_BYTES * nodes + constants);
}
