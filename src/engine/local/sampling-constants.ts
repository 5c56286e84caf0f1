import { Graph, type DType } from "../../autodiff/graph.ts";
import { int8Product, type ByteType } from "../../autodiff/ops/quantised.ts";
import type { DecoderConfig } from "../../models/config.ts";
import {
  BYTES,
  int8Matrices,
  mixedAdapterGraph,
  MIXING,
  mixingSizes,
  QUANTISED,
  quantisingGraph,
  SCALE,
  mixingMatrix,
} from "../../models/int8/matrices.ts";
import { PACKED } from "../../models/sampling-weights.ts";
import type { Device } from "../../onnx/device.ts";
import {
  tensorOf,
  type Constants,
  type HostData,
  type Session,
  type Tensor,
} from "../../onnx/session.ts";
import type { ModelWeights } from "./model-weights.ts";

/** What the sampling graph reads beside the weights' own tensors. */
export interface SamplingConstants {
  numbers(): Promise<Constants>;
  adapters(): Promise<Readonly<Record<string, Tensor>>>;
}

/** The matrices themselves, which the runtime packs. @param names of the graph's inputs that are constants. */
export function packedConstants(
  names: ReadonlySet<string>,
  { feeds }: Pick<ModelWeights, "feeds">,
): SamplingConstants {
  const numberOf = (name: string): HostData =>
    feeds[name.slice(0, -PACKED.length)]!.data as HostData;
  return {
    numbers: () => Promise.resolve(new Map([...names].map((name) => [name, numberOf(name)]))),
    adapters: () => Promise.resolve({}),
  };
}

/** Matrices of 8 bits and what is mixed for them (models/int8). Under adapters the matrices never change and are kept. */
export function int8Constants(
  config: DecoderConfig,
  { feeds, lora }: Pick<ModelWeights, "feeds" | "lora">,
  device: Device,
  type: ByteType,
): SamplingConstants {
  let made: Record<string, Tensor> | undefined;
  const mixings = (): Record<string, Tensor> =>
    (made ??= Object.fromEntries(
      Object.entries(mixingSizes(config)).map(([name, size]) => [
        name,
        tensorOf(mixingMatrix(size), [size, size]),
      ]),
    ));
  async function quantised(): Promise<Constants> {
    const mixing = mixings();
    const numbers = new Map(
      Object.entries(mixing).map(([name, { data }]) => [name, data as HostData]),
    );
    const sessions = new Map<string, Session>();
    for (const matrix of int8Matrices(config)) {
      const { name, shape, reads, writes } = matrix;
      const weight = feeds[name]!;
      const form = [...shape, typeof reads === "object" ? "norm" : reads, writes].join();
      let session = sessions.get(form);
      if (session === undefined) {
        const built = quantisingGraph(config, matrix, weight.type as DType, type);
        session = await device.compile(built.graph, built.outputs);
        sessions.set(form, session);
      }
      const norm: Record<string, Tensor> =
        typeof reads === "object" ? { [QUANTISED.norm]: feeds[reads.norm]! } : {};
      const results = await session.run({ ...mixing, ...norm, [QUANTISED.weight]: weight });
      numbers.set(name + BYTES, results["bytes"]!.data as HostData);
      numbers.set(name + SCALE, results["scale"]!.data as HostData);
    }
    for (const session of sessions.values()) await session.release();
    return numbers;
  }
  const mixed = lora === null ? null : mixedAdapterGraph(config, lora);
  let kept: Promise<Constants> | undefined;
  let mixer: Promise<Session> | undefined;
  return {
    numbers: () => (lora === null ? quantised() : (kept ??= quantised())),
    async adapters() {
      if (mixed === null || Object.keys(mixed.outputs).length === 0) return {};
      mixer ??= device.compile(mixed.graph, mixed.outputs);
      return (await mixer).run({ ...feeds, [MIXING]: mixings()[MIXING]! });
    },
  };
}

/** The type of 8-bit matrices that the runtime multiplies exactly: without VNNI int8 kernels overflow 16 bits; uint8 is slower. */
export async function exactByteType(device: Device): Promise<ByteType> {
  const size = 64;
  const graph = new Graph();
  const bytes = graph.input("bytes", "uint8", [1, size]);
  const scale = graph.input("scale", "float32", [1, 1]);
  const matrix = graph.input("matrix", "int8", [size, size]);
  const rows = { bytes, scale };
  const columns = graph.input("columns", "float32", [size]);
  const product = int8Product(rows, matrix, columns);
  const constants = new Map([["matrix", new Int8Array(size * size).fill(127)]]);
  const session = await device.compile(graph, { product }, { constants });
  const { product: found } = await session.run({
    bytes: tensorOf(new Uint8Array(size).fill(255), [1, size]),
    scale: tensorOf(Float32Array.of(1), [1, 1]),
    columns: tensorOf(new Float32Array(size).fill(1), [size]),
  });
  await session.release();
  const isExact = [...(found!.data as Float32Array)].every((each) => each === size * 127 * 127);
  return isExact ? "int8" : "uint8";
}
