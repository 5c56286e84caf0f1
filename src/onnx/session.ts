import * as ort from "onnxruntime-node";
import { errorMessage, ExternalError } from "../base/errors.ts";
import { givenAs, type DType, type Graph, type Value } from "../autodiff/graph.ts";
import type { DeviceName } from "./device-names.ts";
import { emitModel, neededInputs } from "./emit.ts";

/** The elements of a tensor on the host; bool is one byte each, a number of 16 bits its bits. */
export type HostData =
  Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array;

/** A tensor that sessions read and, given as a fetch, write in place. */
export type Tensor = ort.Tensor;

/** Wraps elements, without copying, as a tensor. */
export function tensorOf(data: HostData, shape: readonly number[], dtype?: DType): Tensor {
  if (dtype === "bool") return new ort.Tensor("bool", data as Uint8Array, shape);
  if (dtype === "float16") return new ort.Tensor("float16", data as Uint16Array, shape);
  if (data instanceof Uint16Array) return new ort.Tensor("uint16", data, shape);
  if (data instanceof Float32Array) return new ort.Tensor("float32", data, shape);
  if (data instanceof Float64Array) return new ort.Tensor("float64", data, shape);
  if (data instanceof Int32Array) return new ort.Tensor("int32", data, shape);
  if (data instanceof BigInt64Array) return new ort.Tensor("int64", data, shape);
  return new ort.Tensor("uint8", data, shape);
}

/** Zeros of a type. */
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
  }[dtype]();
  return tensorOf(data, shape, dtype);
}

/** The float elements of a tensor, not copied. */
export function floats(tensor: Tensor): Float32Array {
  return tensor.data as Float32Array;
}

export interface SessionOptions {
  /** Threads inside one operator. 1 where several workers share the machine. */
  threads: number;
  /** Where the graph runs; "cpu" when absent. */
  device?: DeviceName;
  /** WebGPU: results stay in the GPU's memory, new tensors at every run that the caller disposes of. */
  allocates?: boolean;
  /** Adds up what crosses between the host and a GPU. */
  traffic?: Traffic;
  /** Writes the runtime's own profile beside this path. */
  profile?: string;
}

/** What crossed between the host's memory and a GPU's. */
export interface Traffic {
  toDevice: number;
  fromDevice: number;
  /** Elements of the largest tensor that crossed. */
  largest: number;
}

/** A graph made ready to run. A run blocks its thread: live in a worker. */
export interface Session {
  readonly inputNames: readonly string[];
  /**
   * @param feeds by input name, an input made by `Graph.again` under the name of the other; names that the graph does not use are
   *   ignored.
   * @param fetches tensors to write results into, in place, in the memory that they lie in; a tensor may be input and output of an
   *   element-wise operator, and of a scatter. Outputs without one are allocated, in the host's memory.
   * @throws {ExternalError} RUNTIME_FAILED
   */
  run(
    feeds: Readonly<Record<string, Tensor>>,
    fetches?: Readonly<Record<string, Tensor>>,
  ): Promise<Record<string, Tensor>>;
  release(): Promise<void>;
}

/**
 * Compiles a graph for a device. On WebGPU every operator must run there: one that fell back to the CPU would carry its tensors
 * across and back at every run, so the runtime is told to refuse the model instead.
 * @param outputs what a run returns, by name.
 * @throws {ExternalError} RUNTIME_FAILED when the runtime refuses the model; DEVICE_MISSING when it has none of that name here.
 */
export async function createSession(
  graph: Graph,
  outputs: Readonly<Record<string, Value>>,
  options: SessionOptions,
): Promise<Session> {
  const { device = "cpu", traffic } = options;
  requireProvider(device);
  const model = emitModel(graph, outputs, device);
  const inputNames = neededInputs(graph, Object.values(outputs));
  const outputNames = Object.keys(outputs);
  const created = (): Promise<ort.InferenceSession> =>
    ort.InferenceSession.create(model, {
      executionProviders: device === "cpu" || device === "webgpu" ? [device] : [device, "cpu"],
      intraOpNumThreads: options.threads,
      interOpNumThreads: 1,
      executionMode: "sequential",
      graphOptimizationLevel: "all",
      // Every session would keep an arena as large as its largest run, and one is compiled per batch shape: training went to
      // 7 GB. The system's allocator is as fast here and gives back what a run no longer needs.
      enableCpuMemArena: false,
      enableMemPattern: false,
      // What goes wrong is thrown, and printed by whoever catches it.
      logSeverityLevel: 4,
      extra: {
        session: {
          // Masked attention weights underflow; arithmetic on the denormals made softmax seven times slower.
          set_denormal_as_zero: "1",
          ...(device === "webgpu" ? { disable_cpu_ep_fallback: "1" } : {}),
        },
      },
      // With a preferred place the runtime would ignore the tensors given to write into.
      ...(options.allocates === true ? { preferredOutputLocation: "gpu-buffer" as const } : {}),
      ...(options.profile === undefined
        ? {}
        : { enableProfiling: true, profileFilePrefix: options.profile }),
    });
  const session = await guarded("could not be built", async () => {
    try {
      return await created();
    } catch (error) {
      const absence = ABSENCES.find(([sign]) => sign.test(errorMessage(error)));
      throw absence === undefined ? error : missing(device, absence[1], error);
    }
  });
  return {
    inputNames,
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

/** The runtime leaves a provider that it does not know out in silence, and would run on the processor. */
function requireProvider(device: DeviceName): void {
  const known = ort.listSupportedBackends().map(({ name }) => name);
  if (known.includes(device)) return;
  const here = `${process.platform} ${process.arch}`;
  throw missing(device, `onnxruntime-node has no such provider for ${here}`);
}

/** What the runtime's messages mean that say, in lines of paths and stack traces, that a device is not there. */
const ABSENCES: readonly (readonly [RegExp, string])[] = [
  [/RequestAdapter/, "no graphics card with a Vulkan, Metal or Direct3D 12 driver was found"],
  [/Failed to load/, "its provider's library is not installed (docs/devices.md)"],
];

function missing(device: DeviceName, why: string, cause?: unknown): ExternalError {
  return new ExternalError(
    "DEVICE_MISSING",
    `device "${device}": ${why}. Name another; \`agentrl doctor\` tries each.`,
    { cause },
  );
}

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
      {
        cause: error,
      },
    );
  }
}
