import { scalarLike, type Graph, type Value } from "../autodiff/graph.ts";
import { add } from "../autodiff/ops/elementwise.ts";
import type { DecoderConfig } from "./config.ts";
import { rotaryTables } from "./decoder.ts";
import { rotaryAngles } from "./rope.ts";

/** The length of caches in graphs that accept any: all of these axes agree in a run. */
export const CAPACITY = "capacity";

const NAMES = { cos: "rotary.cos", sin: "rotary.sin", cached: "cachePositions" };

/** What a sampling graph reads by position. */
export interface PositionTables {
  /** [positions, d/2] each. */
  cos: Value;
  sin: Value;
  /** int32 [capacity]: `first`, `first` + 1, … */
  cached(first: number): Value;
}

/** Tables as constants: the graph has one capacity. */
export function constantTables(
  graph: Graph,
  config: DecoderConfig,
  { chunk, capacity }: { chunk: number; capacity: number },
): PositionTables {
  return {
    ...rotaryTables(graph, config, capacity + chunk),
    cached: (first) => graph.constant("int32", [capacity], upFrom(first, capacity)),
  };
}

/** Tables as inputs (`positionNumbers`): the graph accepts any capacity. */
export function givenTables(
  graph: Graph,
  config: DecoderConfig,
  { chunk, capacity }: { chunk: number; capacity: number },
): PositionTables {
  const shape = [capacity + chunk, config.headDim / 2];
  const table = (name: string): Value =>
    graph.input(name, "float32", shape, { axis: 0, name: "positions" });
  const places = graph.input(NAMES.cached, "int32", [capacity], { axis: 0, name: CAPACITY });
  return {
    ...{ cos: table(NAMES.cos), sin: table(NAMES.sin) },
    cached: (first) => (first === 0 ? places : add([places, scalarLike(places, first)])),
  };
}

/** The elements of `givenTables`, by input name, for a cache of this capacity and chunks up to this size. */
export function positionNumbers(
  config: DecoderConfig,
  { chunk, capacity }: { chunk: number; capacity: number },
): Record<string, { data: Float32Array | Int32Array; shape: number[] }> {
  const angles = rotaryAngles(config, capacity + chunk);
  const shape = [capacity + chunk, config.headDim / 2];
  return {
    [NAMES.cos]: { data: Float32Array.from(angles, Math.cos), shape },
    [NAMES.sin]: { data: Float32Array.from(angles, Math.sin), shape },
    [NAMES.cached]: { data: Int32Array.from(upFrom(0, capacity)), shape: [capacity] },
  };
}

function upFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => first + at);
}
