import { MEMORY_PAGE_BYTES, type WebAssemblyApi } from "../../base/wasm.ts";
import type { Scored } from "../top-k.ts";
import { loadGraph, type GraphSource, type LoadedGraph } from "./graph-file.ts";
import { bestOf, type Compare, descent, lowestLayer, MAX_LINKS } from "./graph-walk.ts";
import {
  NEAR_LANES,
  type NearKernel,
  nearKernelModule,
  type NearStorage,
  nearStep,
} from "./near-kernel.ts";

/** A graph's search, without hnswlib: the same steps over the same file. */
export interface GraphSearch {
  /** @param query [D]. @returns at most k, best first, ties by position. */
  search(query: Float32Array, k: number, efSearch: number): Scored[];
}

/** Memory from its start on: addresses of the vectors to compare, their scores, the query in both forms. */
const SCORES = 4 * MAX_LINKS;
const QUERIES = SCORES + 4 * MAX_LINKS;

/** Bytes of a graph's file that fit: WebAssembly's addresses have 32 bits, and the vectors are there as bytes, too. */
export const MAX_GRAPH_BYTES = 3 * 2 ** 30;

/** What a graph is opened with. */
export interface GraphSearchOptions extends Omit<GraphSource, "memoryOf" | "reserved"> {
  /** What the way through the graph is found by; hits are always scored by f32. int8 reads a quarter of the memory. */
  steering?: NearStorage;
}

/**
 * Loads a graph for searching.
 * @throws {DataError} INDEX_CORRUPT when its bytes are not those that were written.
 *
 * Source: algorithm 5 of arXiv 1603.09320 as hnswlib runs it. Different here: four vectors are compared at a time; the
 * way is found by vectors rounded to bytes, and the best that are found are scored once more by the vectors themselves.
 */
export async function openGraphSearch(
  api: WebAssemblyApi,
  { steering = "int8", ...source }: GraphSearchOptions,
): Promise<GraphSearch> {
  const { dimensions, count } = source;
  const exact = queryRoom("f32", dimensions, QUERIES);
  const rough = queryRoom("int8", dimensions, exact.end);
  const codeBytes = steering === "int8" ? count * rough.padded : 0;
  const codes = MEMORY_PAGE_BYTES * Math.ceil(rough.end / MEMORY_PAGE_BYTES);
  let memory: { readonly buffer: ArrayBuffer } | null = null;
  const graph = await loadGraph({
    ...source,
    reserved: codes + 16 * Math.ceil(codeBytes / 16),
    memoryOf: (bytes) =>
      (memory = new api.Memory({ initial: Math.ceil(bytes / MEMORY_PAGE_BYTES) })).buffer,
  });
  const kernel = (storage: NearStorage): NearKernel["near"] => {
    const module = new api.Module(nearKernelModule(storage, dimensions));
    return (new api.Instance(module, { env: { memory: memory! } }).exports as unknown as NearKernel)
      .near;
  };
  const comparing = (storage: NearStorage, place: Place): Compare =>
    comparer(graph.memory, kernel(storage), place);
  const compareExact = comparing("f32", {
    ...{ query: exact, base: graph.records + graph.vectorAt, stride: graph.recordBytes },
  });
  const exactQuery = new Float32Array(graph.memory, exact.at, exact.padded);
  const roughQuery = new Int16Array(graph.memory, rough.at, rough.padded);
  let compare = compareExact;
  if (steering === "int8") {
    const scales = encodeCodes(graph, { dimensions, codes, padded: rough.padded });
    const raw = comparing("int8", { query: rough, base: codes, stride: rough.padded });
    compare = (ids, wanted) => {
      const found = raw(ids, wanted);
      for (let i = 0; i < wanted; i++) found[i]! *= scales[ids[i]!]!;
      return found;
    };
  }
  const descend = descent(graph, compare);
  const spread = lowestLayer(graph, compare);
  const best = bestOf(graph, compareExact);
  return {
    search(given, k, efSearch) {
      exactQuery.set(given);
      writeWhole(given, roughQuery);
      return best(spread(descend(), Math.max(k, efSearch)), k);
    },
  };
}

interface QueryRoom {
  at: number;
  end: number;
  padded: number;
}

interface Place {
  query: QueryRoom;
  base: number;
  stride: number;
}

/** Compares a query with vectors that lie `stride` bytes apart from `base` on. */
function comparer(
  memory: ArrayBuffer,
  near: NearKernel["near"],
  { query, base, stride }: Place,
): Compare {
  // As i32, which is what the machine multiplies fast: addresses beyond 2³¹ have the same bits.
  const addresses = new Int32Array(memory, 0, MAX_LINKS);
  const scores = new Float32Array(memory, SCORES, MAX_LINKS);
  return (ids, wanted) => {
    if (wanted === 0) return scores;
    const turns = Math.ceil(wanted / NEAR_LANES);
    for (let i = 0; i < turns * NEAR_LANES; i++) {
      addresses[i] = (base + Math.imul(ids[i < wanted ? i : 0]!, stride)) | 0;
    }
    near(0, turns, query.at, query.end, SCORES);
    return scores;
  };
}

/** Where a query lies in memory; what is beyond its dimensions stays 0. */
function queryRoom(storage: NearStorage, dimensions: number, at: number): QueryRoom {
  const step = nearStep(storage, dimensions);
  const padded = step * Math.ceil(dimensions / step);
  return { at, end: at + padded * (storage === "int8" ? 2 : 4), padded };
}

/** Only the order of scores counts on the way, so the query's scale is left out. */
function writeWhole(query: Float32Array, into: Int16Array): void {
  let largest = 0;
  for (let d = 0; d < query.length; d++) largest = Math.max(largest, Math.abs(query[d]!));
  const factor = largest === 0 ? 0 : 2047 / largest;
  for (let d = 0; d < query.length; d++) into[d] = Math.round(query[d]! * factor);
}

/** Rounds every vector to bytes. @returns the scale of each. */
function encodeCodes(
  { memory, records, recordBytes, vectorAt, count }: LoadedGraph,
  { dimensions, codes, padded }: { dimensions: number; codes: number; padded: number },
): Float32Array {
  const bytes = new Int8Array(memory);
  const numbers = new Float32Array(memory, 0, Math.floor(memory.byteLength / 4));
  const scales = new Float32Array(count);
  for (let id = 0; id < count; id++) {
    const from = (records + id * recordBytes + vectorAt) / 4;
    let largest = 0;
    for (let d = 0; d < dimensions; d++) largest = Math.max(largest, Math.abs(numbers[from + d]!));
    scales[id] = largest / 127;
    if (largest === 0) continue;
    const into = codes + id * padded;
    for (let d = 0; d < dimensions; d++) {
      bytes[into + d] = Math.round((numbers[from + d]! / largest) * 127);
    }
  }
  return scales;
}
