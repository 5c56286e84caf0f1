import { Graph } from "../../autodiff/graph.ts";
import { int8Product, type Int8Type } from "../../autodiff/ops/quantised.ts";
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
} from "../../models/int8/matrices.ts";
import { mixingMatrix } from "../../models/int8/mixing.ts";
import { PACKED } from "../../models/sampling-weights.ts";
import type { Device } from "../../onnx/device.ts";
import { tensorOf, type Constants, type HostData, type Tensor } from "../../onnx/session.ts";
import type { ModelWeights } from "./model-weights.ts";

/** What the sampling graph reads beside the weights' own tensors. */
export interface SamplingConstants {
  /** The numbers of its constants, from the weights as they are now. */
  numbers(): Promise<Constants>;
  /** Tensors made of trained adapters, as they are now. */
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

/** Matrices of 8 bits and what is mixed for them (models/int8). */
export function int8Constants(
  config: DecoderConfig,
  { feeds, lora }: Pick<ModelWeights, "feeds" | "lora">,
  device: Device,
  type: Int8Type,
): SamplingConstants {
  let made: Record<string, Tensor> | undefined;
  const mixings = (): Record<string, Tensor> =>
    (made ??= Object.fromEntries(
      Object.entries(mixingSizes(config)).map(([name, size]) => [
        name,
        tensorOf(mixingMatrix(size), [size, size]),
      ]),
    ));
  const mixed = lora === null ? null : mixedAdapterGraph(config, lora);
  return {
    async numbers() {
      const mixing = mixings();
      const numbers = new Map(
        Object.entries(mixing).map(([name, { data }]) => [name, data as HostData]),
      );
      for (const matrix of int8Matrices(config)) {
        const { name, reads } = matrix;
        const weight = feeds[name]!;
        const built = quantisingGraph(config, matrix, weight.type as "float32", type);
        const session = await device.compile(built.graph, built.outputs);
        const norm = typeof reads === "object" ? { [QUANTISED.norm]: feeds[reads.norm]! } : {};
        const results = await session.run({ ...mixing, ...norm, [QUANTISED.weight]: weight });
        await session.release();
        numbers.set(name + BYTES, results["bytes"]!.data as HostData);
        numbers.set(name + SCALE, results["scale"]!.data as HostData);
      }
      return numbers;
    },
    async adapters() {
      if (mixed === null || Object.keys(mixed.outputs).length === 0) return {};
      const session = await device.compile(mixed.graph, mixed.outputs);
      const results = await session.run({ ...feeds, [MIXING]: mixings()[MIXING]! });
      await session.release();
      return results;
    },
  };
}

/**
 * The type of 8-bit matrices that the runtime multiplies exactly: its kernels for processors without dot products of 8 bits (VNNI) add pairs
 * of products in 16 bits, which overflow for int8. It multiplies uint8 exactly everywhere, but slower.
 */
export async function exactInt8Type(device: Device): Promise<Int8Type> {
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
