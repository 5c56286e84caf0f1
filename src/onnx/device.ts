import { Graph, scalarLike, type DType, type Value } from "../autodiff/graph.ts";
import { castTo, where } from "../autodiff/ops/elementwise.ts";
import { expand } from "../autodiff/ops/shape.ts";
import { isResident, type DeviceName } from "./device-names.ts";
import {
  createSession,
  floats,
  tensorOf,
  zeros,
  type Session,
  type SessionOptions,
  type Tensor,
  type Traffic,
} from "./session.ts";

/** Runs graphs and stores the tensors that persist between runs: weights, gradients, moments, caches (float32, except frozen weights). */
export interface Device {
  readonly name: DeviceName;
  /**
   * Whether persistent tensors are in device memory. If not, they are in host memory: `floats` returns their elements, and the
   * runtime copies them to a CUDA, CoreML or DirectML device at every run.
   */
  readonly resident: boolean;
  readonly threads: number;
  /** Total transfers between the host and a resident device; the reader may reset it. */
  readonly traffic: Traffic;
  /** @throws {ExternalError} RUNTIME_FAILED */
  compile(
    graph: Graph,
    outputs: Readonly<Record<string, Value>>,
    options?: Pick<SessionOptions, "constants" | "arena" | "given">,
  ): Promise<Session>;
  /** @param type default "float32". @throws {ExternalError} RUNTIME_FAILED for a type that a resident device does not support. */
  zeros(shape: readonly number[], type?: DType): Promise<Tensor>;
  /** Overwrites all elements of a float32 tensor or, on a resident device, a float16 tensor (with rounding). */
  write(tensor: Tensor, data: Float32Array): Promise<void>;
  /** The elements: the tensor's own array in host memory, else a copy. */
  read(tensor: Tensor): Promise<Float32Array>;
  /** Overwrites a tensor with another of the same shape. */
  copy(from: Tensor, to: Tensor): Promise<void>;
  /** Sets all elements to 0, including NaN. */
  clear(tensor: Tensor): Promise<void>;
  /** Releases every graph that it compiled. Call it before its thread ends, because drivers need it. */
  close(): Promise<void>;
}

export function noTraffic(): Traffic {
  return { toDevice: 0, fromDevice: 0, largest: 0 };
}

/** @param threads inside one operator, on the CPU. */
export function openDevice(name: DeviceName, threads: number): Device {
  return isResident(name) ? residentDevice(name, threads) : hostDevice(name, threads);
}

function hostDevice(name: DeviceName, threads: number): Device {
  const { create, close } = openSessions();
  return {
    name,
    threads,
    resident: false,
    traffic: noTraffic(),
    close,
    compile: (graph, outputs, more) => create(graph, outputs, { ...more, device: name, threads }),
    zeros: (shape, type = "float32") => Promise.resolve(zeros(type, shape)),
    write(tensor, data) {
      floats(tensor).set(data);
      return Promise.resolve();
    },
    read: (tensor) => Promise.resolve(floats(tensor)),
    copy(from, to) {
      floats(to).set(floats(from));
      return Promise.resolve();
    },
    clear(tensor) {
      floats(tensor).fill(0);
      return Promise.resolve();
    },
  };
}

/**
 * GPU memory through WebGPU. The runtime accesses it only by running graphs, so a transfer is a graph whose input or
 * output is in host memory. Persistent tensors are allocated once and overwritten in place as fetches.
 */
function residentDevice(device: DeviceName, threads: number): Device {
  const traffic = noTraffic();
  const { create, close } = openSessions();
  const options = { device, threads, traffic };
  const compiled = new Map<string, Promise<Session>>();
  const once = (key: string, build: () => Promise<Session>): Promise<Session> => {
    let found = compiled.get(key);
    if (found === undefined) {
      found = build();
      compiled.set(key, found);
    }
    return found;
  };
  const mover = (shape: readonly number[], type: DType): Promise<Session> =>
    once(`move ${type} ${shape.join()}`, () => {
      const graph = new Graph();
      const from = graph.input("from", "float32", shape);
      const kept = graph.input("kept", "bool", [1]);
      // A selection: the runtime cannot optimise it away, and NaN passes unchanged.
      const to = where([kept, from, scalarLike(from, 0)]);
      return create(graph, { to: ofType(to, type) }, options);
    });
  const allocator = (shape: readonly number[], type: DType): Promise<Session> =>
    once(`allocate ${type} ${shape.join()}`, () => {
      const graph = new Graph();
      const to = expand(graph.input("value", "float32", [1]), shape);
      return create(graph, { to: ofType(to, type) }, { ...options, allocates: true });
    });
  const flag = (value: boolean): Tensor => tensorOf(Uint8Array.of(value ? 1 : 0), [1], "bool");
  const move = async (from: Tensor, to: Tensor | null, kept = true): Promise<Tensor> => {
    const session = await mover(from.dims, (to?.type ?? "float32") as DType);
    const fetches: Record<string, Tensor> = to === null ? {} : { to };
    return (await session.run({ from, kept: flag(kept) }, fetches))["to"]!;
  };
  return {
    name: device,
    threads,
    resident: true,
    traffic,
    close,
    compile: (graph, outputs, more) => create(graph, outputs, { ...more, ...options }),
    zeros: async (shape, type = "float32") => {
      const session = await allocator(shape, type);
      return (await session.run({ value: tensorOf(Float32Array.of(0), [1]) }))["to"]!;
    },
    write: async (tensor, data) => {
      await move(tensorOf(data, tensor.dims), tensor);
    },
    read: async (tensor) => floats(await move(tensor, null)),
    copy: async (from, to) => {
      await move(from, to);
    },
    clear: async (tensor) => {
      await move(tensor, tensor, false);
    },
  };
}

/** Creates sessions and tracks those that are not released. */
function openSessions(): { create: typeof createSession; close: () => Promise<void> } {
  const open = new Set<Session>();
  return {
    async create(graph, outputs, options) {
      const session = await createSession(graph, outputs, options);
      open.add(session);
      const release = (): Promise<void> =>
        open.delete(session) ? session.release() : Promise.resolve();
      return { ...session, release };
    },
    async close() {
      const left = [...open];
      open.clear();
      for (const session of left) await session.release();
    },
  };
}

/** Converts to the type of a resident tensor: float32 or float16. */
function ofType(value: Value, type: DType): Value {
  return type === "float16" ? castTo(value, type) : value;
}
