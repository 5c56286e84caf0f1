import { MEMORY_PAGE_BYTES, wasmModule, type WebAssemblyApi } from "../../base/wasm.ts";
import type { Scored } from "../top-k.ts";
import { loadGraph, type GraphSource, type LoadedGraph } from "./graph-file.ts";
import { bestOf, descent, lowestLayer, MAX_LINKS, type Comparing } from "./graph-walk.ts";
import { nearKernel } from "../kernels.ts";

/** Vectors that one turn of the kernel compares. */
const NEAR_LANES = 4;

/** The ids that are compared (u32) lie at address 0; near.wat reads their scores (f32), a word and the query at these. */
const SCORES = 2064;
const WORD = 4128;
const QUERIES = WORD + 16;

interface NearKernel {
  /**
   * Writes the inner products of the query with the vectors that are listed, to `SCORES`.
   * @param turns at least 1: so many times four vectors are compared.
   */
  near: (turns: number) => void;
  /**
   * Compares the query with a vector's neighbours that are not marked yet, and marks them. Those of a score above the
   * floor are listed then, with their scores.
   *
   * @param links address of [count, ids …], the count in 16 bits.
   * @param next that of the vector which will probably be the next: its links are fetched meanwhile.
   * @param mark 1 to 255.
   * @returns how many are listed.
   */
  expand: (links: number, next: number, mark: number, floor: number) => number;
}

interface NearPlaces {
  query: number;
  queryEnd: number;
  /** The first vector, and how far apart they are. */
  vectors: number;
  stride: number;
  /** What each vector's score is multiplied with (f32), of int8 alone; 0 where there is nothing of the kind. */
  scales: number;
  /** A byte of each vector. */
  marks: number;
  linkBytes: number;
}

/** How the vectors that are compared are kept: as they are, or as bytes that whole numbers of 16 bits are multiplied with. */
type NearStorage = "f32" | "int8";

/** Queries, and vectors of bytes, are filled up with zeros to a multiple of so many numbers. */
const NEAR_STEP: Readonly<Record<NearStorage, number>> = { f32: 4, int8: 16 };

function openNearKernel(
  api: WebAssemblyApi,
  memory: object,
  storage: NearStorage,
  places: NearPlaces,
): NearKernel {
  const env = { memory, isInt8: Number(storage === "int8"), ...places };
  const { exports } = new api.Instance(wasmModule(api, nearKernel), { env });
  return exports as unknown as NearKernel;
}

/** A graph's search, without hnswlib: the same steps over the same file. */
export interface GraphSearch {
  /** @param query [D]. @returns at most k, best first, ties by position. */
  search(query: Float32Array, k: number, efSearch: number): Scored[];
}

/** Bytes of a graph's file that fit: WebAssembly's addresses have 32 bits, and the vectors are there as bytes, too. */
export const MAX_GRAPH_BYTES = 3 * 2 ** 30;

interface GraphSearchOptions extends Omit<GraphSource, "memoryOf" | "reserved"> {
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
  const layout = layoutOf(steering, dimensions, count);
  let memory: { readonly buffer: ArrayBuffer } | null = null;
  const graph = await loadGraph({
    ...source,
    reserved: layout.end,
    memoryOf: (bytes) =>
      (memory = new api.Memory({ initial: Math.ceil(bytes / MEMORY_PAGE_BYTES) })).buffer,
  });
  const comparing = (storage: NearStorage, places: Place): Comparing => {
    const all = { ...places, marks: layout.marks, linkBytes: graph.vectorAt };
    return comparer(graph.memory, openNearKernel(api, memory!, storage, all));
  };
  const exact = comparing("f32", {
    ...layout.exact,
    scales: 0,
    vectors: graph.records + graph.vectorAt,
    stride: graph.recordBytes,
  });
  let rough = exact;
  if (steering === "int8") {
    const scales = encodeCodes(graph, layout, dimensions);
    const { codes: vectors, rough: room } = layout;
    rough = comparing("int8", { ...room, scales, vectors, stride: room.padded });
  }
  const exactQuery = new Float32Array(graph.memory, layout.exact.query, layout.exact.padded);
  const roughQuery = new Int16Array(graph.memory, layout.rough.query, layout.rough.padded);
  const descend = descent(graph, rough);
  const spread = lowestLayer(graph, rough, new Uint8Array(graph.memory, layout.marks, count));
  const best = bestOf(graph, exact);
  return {
    search(given, k, efSearch) {
      exactQuery.set(given);
      writeWhole(given, roughQuery);
      return best(spread(descend(), Math.max(k, efSearch)), k);
    },
  };
}

type Place = Pick<NearPlaces, "query" | "queryEnd" | "vectors" | "stride" | "scales">;

interface Layout {
  exact: QueryRoom;
  rough: QueryRoom;
  /** Vectors as bytes, and the largest number of each; nothing where the steering needs none. */
  codes: number;
  scales: number;
  marks: number;
  end: number;
}

/** What lies before the graph's records. */
function layoutOf(steering: NearStorage, dimensions: number, count: number): Layout {
  const exact = queryRoom("f32", dimensions, QUERIES);
  const rough = queryRoom("int8", dimensions, exact.queryEnd);
  const coded = steering === "int8" ? count : 0;
  const codes = MEMORY_PAGE_BYTES * Math.ceil(rough.queryEnd / MEMORY_PAGE_BYTES);
  const scales = codes + coded * rough.padded;
  const marks = scales + 4 * coded;
  return { exact, rough, codes, scales, marks, end: 16 * Math.ceil((marks + count) / 16) };
}

interface QueryRoom {
  query: number;
  queryEnd: number;
  padded: number;
}

/** Where a query lies in memory; what is beyond its dimensions stays 0. */
function queryRoom(storage: NearStorage, dimensions: number, query: number): QueryRoom {
  const step = NEAR_STEP[storage];
  const padded = step * Math.ceil(dimensions / step);
  return { query, queryEnd: query + padded * (storage === "int8" ? 2 : 4), padded };
}

function comparer(memory: ArrayBuffer, { near, expand }: NearKernel): Comparing {
  const ids = new Int32Array(memory, 0, MAX_LINKS + NEAR_LANES);
  const scores = new Float32Array(memory, SCORES, MAX_LINKS + NEAR_LANES);
  return {
    ids,
    scores,
    compare(wanted) {
      if (wanted === 0) return;
      ids.fill(ids[0]!, wanted, wanted + NEAR_LANES - 1);
      near(Math.ceil(wanted / NEAR_LANES));
    },
    expand,
  };
}

/** Only the order of scores counts on the way, so the query's scale is left out. */
function writeWhole(query: Float32Array, into: Int16Array): void {
  let largest = 0;
  for (let d = 0; d < query.length; d++) largest = Math.max(largest, Math.abs(query[d]!));
  const factor = largest === 0 ? 0 : 2047 / largest;
  for (let d = 0; d < query.length; d++) into[d] = Math.round(query[d]! * factor);
}

/** How far the largest number of a vector may lie above that of most: 127 steps are then still 30 for most. */
const EVEN = 4;

/**
 * Rounds every vector to bytes: all by one factor where they are of about one size, as only the order of scores counts on
 * the way; otherwise each by its own, which is one more place in memory to wait for.
 *
 * @returns the address of the factors that multiply the scores; 0 for none.
 */
function encodeCodes(graph: LoadedGraph, layout: Layout, dimensions: number): number {
  const { memory, records, recordBytes, vectorAt, count } = graph;
  const { padded } = layout.rough;
  const numbers = new Float32Array(memory, records, (count * recordBytes) / 4);
  const bytes = new Int8Array(memory, layout.codes, count * padded);
  const sizes = new Float32Array(memory, layout.scales, count);
  const startOf = (id: number): number => (id * recordBytes + vectorAt) / 4;
  for (let id = 0; id < count; id++) sizes[id] = largestOf(numbers, startOf(id), dimensions);
  const sorted = sizes.slice().sort();
  const [middle, most] = [sorted[count >> 1]!, sorted[count - 1]!];
  const isEven = most <= EVEN * middle;
  for (let id = 0; id < count; id++) {
    const size = isEven ? most : sizes[id]!;
    const factor = size === 0 ? 0 : 127 / size;
    const from = startOf(id);
    for (let d = 0, into = id * padded; d < dimensions; d++, into++) {
      bytes[into] = ((numbers[from + d]! * factor + 128.5) | 0) - 128; // rounded
    }
  }
  return isEven ? 0 : layout.scales;
}

function largestOf(numbers: Float32Array, from: number, dimensions: number): number {
  let largest = 0;
  for (let at = from; at < from + dimensions; at++) {
    const size = Math.abs(numbers[at]!);
    if (size > largest) largest = size;
  }
  return largest;
}
