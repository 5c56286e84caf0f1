import { type Scored } from "../top-k.ts";
import { loadGraph, type GraphSource, type LoadedGraph } from "./graph-file.ts";
import {
  NEAR_LANES,
  type NearKernel,
  nearKernelModule,
  type NearStorage,
  nearStep,
} from "./near-kernel.ts";
import { type ScoreHeap, scoreHeap } from "./score-heap.ts";
import type { WebAssemblyApi } from "./wasm-code.ts";

/** A graph's search, without hnswlib: the same steps over the same file. */
export interface GraphSearch {
  /** @param query [D]. @returns at most k, best first, ties by position. */
  search(query: Float32Array, k: number, efSearch: number): Scored[];
}

/** Links of a record are at most 2·256. */
const MAX_LINKS = 512;
const SCORES = 4 * MAX_LINKS;
const QUERIES = SCORES + 4 * MAX_LINKS;
const PAGE = 65_536;

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
  const codes = PAGE * Math.ceil(rough.end / PAGE);
  let memory: { readonly buffer: ArrayBuffer } | null = null;
  const graph = await loadGraph({
    ...source,
    reserved: codes + 16 * Math.ceil(codeBytes / 16),
    memoryOf: (bytes) => (memory = new api.Memory({ initial: Math.ceil(bytes / PAGE) })).buffer,
  });
  const kernel = (storage: NearStorage): NearKernel["near"] => {
    const module = new api.Module(nearKernelModule(storage, dimensions));
    return (new api.Instance(module, { env: { memory } }).exports as NearKernel).near;
  };
  // As i32, which is what the machine multiplies fast: addresses beyond 2³¹ have the same bits.
  const addresses = new Int32Array(graph.memory, 0, MAX_LINKS);
  const scores = new Float32Array(graph.memory, SCORES, MAX_LINKS);
  const comparing = (near: NearKernel["near"], place: Place): Compare => {
    const { query, base, stride } = place;
    return (ids, wanted) => {
      if (wanted === 0) return scores;
      const turns = Math.ceil(wanted / NEAR_LANES);
      for (let i = 0; i < turns * NEAR_LANES; i++) {
        addresses[i] = (base + Math.imul(ids[i < wanted ? i : 0]!, stride)) | 0;
      }
      near(0, turns, query.at, query.end, SCORES);
      return scores;
    };
  };
  const compareExact = comparing(kernel("f32"), {
    ...{ query: exact, base: graph.records + graph.vectorAt, stride: graph.recordBytes },
  });
  const exactQuery = new Float32Array(graph.memory, exact.at, exact.padded);
  const roughQuery = new Int16Array(graph.memory, rough.at, rough.padded);
  let compare = compareExact;
  if (steering === "int8") {
    const scales = encodeCodes(graph, { dimensions, codes, padded: rough.padded });
    const raw = comparing(kernel("int8"), { query: rough, base: codes, stride: rough.padded });
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

/** @returns scores of the first `count` ids, valid until the next call. */
type Compare = (ids: Int32Array, count: number) => Float32Array;

/** From the entry point through the upper layers, each time to the best neighbour until there is none better. */
function descent(graph: LoadedGraph, compare: Compare): () => number {
  const ids = new Int32Array(MAX_LINKS);
  return () => {
    let best = graph.entryPoint;
    ids[0] = best;
    let bestScore = compare(ids, 1)[0]!;
    for (let layer = graph.topLayer; layer > 0; layer--) {
      for (let moved = true; moved;) {
        moved = false;
        const links = graph.upperLinks(best, layer);
        const count = links[0]! & 0xffff;
        for (let i = 0; i < count; i++) ids[i] = links[i + 1]!;
        const scores = compare(ids, count);
        for (let i = 0; i < count; i++) {
          if (scores[i]! <= bestScore) continue;
          bestScore = scores[i]!;
          best = ids[i]!;
          moved = true;
        }
      }
    }
    return best;
  };
}

/** The lowest layer: from the best candidate on, until none can enter the best `ef`. */
function lowestLayer(
  graph: LoadedGraph,
  compare: Compare,
): (start: number, ef: number) => ScoreHeap {
  // As i32: as u32 each id would pass through a float.
  const words = new Int32Array(graph.memory, graph.records, (graph.count * graph.recordBytes) / 4);
  const recordWords = graph.recordBytes / 4;
  const visited = new Uint8Array(graph.count);
  const ids = new Int32Array(MAX_LINKS);
  const candidates = scoreHeap(); // by score, negated: the best on top
  const found = scoreHeap(); // the worst on top
  let mark = 0;
  return (start, ef) => {
    mark = (mark + 1) & 0xff;
    if (mark === 0) {
      visited.fill(0);
      mark = 1;
    }
    candidates.clear();
    found.clear();
    ids[0] = start;
    visited[start] = mark;
    const own = compare(ids, 1)[0]!;
    candidates.push(-own, start);
    found.push(own, start);
    while (candidates.size > 0) {
      if (-candidates.top() < found.top() && found.size === ef) break;
      const at = Math.imul(candidates.pop(), recordWords);
      const count = words[at]! & 0xffff;
      let fresh = 0;
      for (let i = 1; i <= count; i++) {
        const id = words[at + i]!;
        if (visited[id] === mark) continue;
        visited[id] = mark;
        ids[fresh++] = id;
      }
      if (fresh === 0) continue;
      const scores = compare(ids, fresh);
      for (let i = 0; i < fresh; i++) {
        const score = scores[i]!;
        if (found.size < ef) found.push(score, ids[i]!);
        else if (score > found.top()) found.replaceTop(score, ids[i]!);
        else continue;
        candidates.push(-score, ids[i]!);
      }
    }
    return found;
  };
}

/** What is scored once more: rounding to bytes moves a hit by a few ranks, not by more than there are. */
function rescored(k: number): number {
  return 3 * k + 20;
}

/** Scores the best of what was found by the vectors themselves and takes the best k, by their labels. */
function bestOf(graph: LoadedGraph, compare: Compare): (found: ScoreHeap, k: number) => Scored[] {
  const words = new Uint32Array(graph.memory, 0, Math.floor(graph.memory.byteLength / 4));
  const ids = new Int32Array(MAX_LINKS);
  const labelOf = (id: number): number =>
    words[(graph.records + id * graph.recordBytes + graph.labelAt) / 4]!;
  return (found, k) => {
    while (found.size > rescored(k)) found.pop();
    const hits: Scored[] = [];
    while (found.size > 0) {
      const size = Math.min(MAX_LINKS, found.size);
      for (let i = 0; i < size; i++) ids[i] = found.pop();
      const scores = compare(ids, size);
      for (let i = 0; i < size; i++) hits.push({ position: labelOf(ids[i]!), score: scores[i]! });
    }
    return hits.sort((a, b) => b.score - a.score || a.position - b.position).slice(0, k);
  };
}
