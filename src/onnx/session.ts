import { definedValues } from "../base/defined-values.ts";
import * as ort from "onnxruntime-node";
import { errorMessage, ExternalError } from "../base/errors.ts";
import { givenAs, type DType, type Graph, type Value } from "../autodiff/graph.ts";
import { loadProblem, providerProblem } from "./cuda-provider.ts";
import { absenceIn, missingDevice } from "./device-absence.ts";
import type { DeviceName } from "./device-names.ts";
import { emitModel, neededInputs } from "./emit.ts";
import { requireTelemetryOff } from "../base/telemetry.ts";

/** The elements of a tensor in host memory; a bool is one byte, a 16-bit number is stored as its bits. */
export type HostData =
  Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array | Int8Array | Uint16Array;

/** An input of a session, or an output buffer that it overwrites. */
export type Tensor = ort.Tensor;

/** Wraps elements as a tensor without a copy. */
export function tensorOf(data: HostData, shape: readonly number[], dtype?: DType): Tensor {
  if (dtype === "bool") return new ort.Tensor("bool", data as Uint8Array, shape);
  if (dtype === "float16") return new ort.Tensor("float16", data as Uint16Array, shape);
  if (data instanceof Uint16Array) return new ort.Tensor("uint16", data, shape);
  if (data instanceof Float32Array) return new ort.Tensor("float32", data, shape);
  if (data instanceof Float64Array) return new ort.Tensor("float64", data, shape);
  if (data instanceof Int32Array) return new ort.Tensor("int32", data, shape);
  if (data instanceof BigInt64Array) return new ort.Tensor("int64", data, shape);
  if (data instanceof Int8Array) return new ort.Tensor("int8", data, shape);
  return new ort.Tensor("uint8", data, shape);
}

/** A tensor of zeros. */
export function zeros(dtype: DType, shape: readonly number[]): Tensor {
  const size = shape.reduce((n, axis) => n * axis, 1);
  const data = {
    float32: () => new Float32Array(size),
    float64: () => new Float64Array(size),
    int32: () => new Int32Array(size),
    int64: () => new BigInt64Array(size),
    bool: () => new Uint8Array(size),
    float16: () => new Uint16Array(size),
    bfloat16: () => new Uint16Array(size),
    uint16: () => new Uint16Array(size),
    int8: () => new Int8Array(size),
    uint8: () => new Uint8Array(size),
  }[dtype]();
  return tensorOf(data, shape, dtype);
}

/** The float elements of a tensor, without a copy. */
export function floats(tensor: Tensor): Float32Array {
  return tensor.data as Float32Array;
}

export interface SessionOptions {
  /** Threads inside one operator; 1 when several workers share the machine. */
  threads: number;
  /** Device of the graph; default "cpu". */
  device?: DeviceName;
  /** WebGPU: results stay in GPU memory, as new tensors that the caller must dispose of. */
  allocates?: boolean;
  /** Counter of transfers between the host and a GPU. */
  traffic?: Traffic;
  /** Inputs that never change, by name, which the runtime copies into the layout of its kernels: no run feeds them. */
  constants?: Constants;
  /** Constants that every run is fed, by their names in the graph, because they differ from run to run. */
  given?: ReadonlySet<Value>;
  /** Memory of results stays with the session, for a graph of which every run needs as much. */
  arena?: boolean;
  /** Path prefix of the runtime's profile. */
  profile?: string;
}

/** Numbers of inputs that never change, by name. */
export type Constants = ReadonlyMap<string, HostData>;

/** Transfers between host memory and GPU memory. */
export interface Traffic {
  toDevice: number;
  fromDevice: number;
  /** Elements of the largest transferred tensor. */
  largest: number;
}

/** A compiled graph. A run blocks its thread, so use it in a worker. */
export interface Session {
  readonly inputNames: readonly string[];
  /** Nodes of its graph, by which a session's own memory grows. */
  readonly nodes: number;
  /**
   * @param feeds by input name; an input from `Graph.again` uses the name of its original. Names that the graph does not use are
   *   ignored.
   * @param fetches output tensors to overwrite in place; a tensor may be input and output of an element-wise
   *   operator or a scatter. Other outputs are allocated in host memory.
   * @throws {ExternalError} RUNTIME_FAILED
   */
  run(
    feeds: Readonly<Record<string, Tensor>>,
    fetches?: Readonly<Record<string, Tensor>>,
  ): Promise<Record<string, Tensor>>;
  release(): Promise<void>;
}

/**
 * Larger graphs, those of deep models' training, are run as they are emitted. The runtime's optimisers take two thirds of their compilation
 * (13 000 nodes: 2.8 s against .9 s) and save a seventh of a run (7 600 nodes: .3 of 2 s), which was measured when
 * each shape was a graph of its own.
 */
const OPTIMISED_NODES = 8_000;

/**
 * Compiles a graph for a device. On WebGPU every operator must run on the GPU: a fallback to the CPU would transfer its tensors
 * at every run, so the runtime must reject the model instead.
 * @param outputs the results of a run, by name.
 * @throws {ExternalError} RUNTIME_FAILED when the runtime rejects the model; DEVICE_MISSING when the device is not available.
 */
export async function createSession(
  graph: Graph,
  outputs: Readonly<Record<string, Value>>,
  options: SessionOptions,
): Promise<Session> {
  const { device = "cpu", traffic, constants = new Map() as Constants, given } = options;
  requireTelemetryOff();
  await requireProvider(device);
  const model = emitModel(graph, outputs, { device, stored: new Set(constants.keys()), given });
  const inputNames = neededInputs(graph, Object.values(outputs), given).filter(
    (name) => !constants.has(name),
  );
  const outputNames = Object.keys(outputs);
  const created = (): Promise<ort.InferenceSession> =>
    ort.InferenceSession.create(
      model,
      definedValues({
        executionProviders: device === "cpu" || device === "webgpu" ? [device] : [device, "cpu"],
        intraOpNumThreads: options.threads,
        interOpNumThreads: 1,
        executionMode: "sequential",
        graphOptimizationLevel:
          device === "cpu" && graph.nodes.length > OPTIMISED_NODES ? "disabled" : "all",
        // Each session would keep an arena as large as its largest run, and there is one session per batch shape: training used
        // 7 GB. The system allocator is as fast here and frees memory after each run.
        enableCpuMemArena: options.arena ?? false,
        enableMemPattern: false,
        // Errors are thrown, and the catcher prints them.
        logSeverityLevel: 4,
        extra: {
          session: definedValues({
            // Masked attention weights underflow, and denormals made softmax seven times slower.
            set_denormal_as_zero: "1",
            disable_cpu_ep_fallback: device === "webgpu" ? "1" : undefined,
          }),
        },
        externalData: constants.size === 0 ? undefined : [...constants].map(externalFile),
        // With a preferred output location the runtime would ignore the given output tensors.
        preferredOutputLocation: options.allocates === true ? ("gpu-buffer" as const) : undefined,
        enableProfiling: options.profile === undefined ? undefined : true,
        profileFilePrefix: options.profile,
      }),
    );
  const session = await guarded("could not be built", async () => {
    try {
      return await created();
    } catch (error) {
      const message = errorMessage(error);
      const isUnloaded = device === "cuda" && /Failed to load/.test(message);
      const absence = absenceIn(isUnloaded ? `${message}: ${loadProblem()}` : message);
      throw absence === null ? error : missingDevice(device, absence, error);
    }
  });
  return {
    inputNames,
    nodes: graph.nodes.length,
    run: (feeds, fetches = {}) => {
      const used: Record<string, Tensor> = {};
      for (const name of inputNames) {
        const tensor = feeds[name] ?? feeds[givenAs(name)];
        if (tensor !== undefined) used[name] = tensor;
      }
      const wanted: Record<string, Tensor | null> = {};
      for (const name of outputNames) wanted[name] = fetches[name] ?? null;
      return guarded("failed", async () => {
        const results = await session.run(used, wanted);
        if (traffic !== undefined) count(traffic, used, results);
        return results;
      });
    },
    release: async () => {
      if (options.profile !== undefined) session.endProfiling();
      await session.release();
    },
  };
}

function externalFile([path, numbers]: readonly [string, HostData]): {
  path: string;
  data: Uint8Array;
} {
  return { path, data: new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength) };
}

/** The runtime silently skips an unknown provider and would run on the CPU, and loads a CUDA provider of any version. */
async function requireProvider(device: DeviceName): Promise<void> {
  const known = ort.listSupportedBackends().map(({ name }) => name);
  const here = `${process.platform} ${process.arch}`;
  if (!known.includes(device))
    throw missingDevice(device, `onnxruntime-node has no such provider for ${here}`);
  if (device !== "cuda") return;
  const problem = await (cudaProblem ??= providerProblem(ort.env.versions.node ?? ""));
  if (problem !== null) throw missingDevice(device, problem);
}

/** Looked for once: the provider is large. */
let cudaProblem: Promise<string | null> | undefined;

function count(
  traffic: Traffic,
  given: Readonly<Record<string, Tensor>>,
  results: Readonly<Record<string, Tensor>>,
): void {
  for (const [way, tensors] of [
    ["toDevice", given],
    ["fromDevice", results],
  ] as const) {
    for (const tensor of Object.values(tensors)) {
      if (tensor.location !== "cpu") continue;
      traffic[way] += (tensor.data as HostData).byteLength;
      traffic.largest = Math.max(traffic.largest, tensor.size);
    }
  }
}

async function guarded<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ExternalError) throw error;
    throw new ExternalError(
      "RUNTIME_FAILED",
      `onnxruntime: a graph ${what}: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}
