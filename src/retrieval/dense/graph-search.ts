import { type Scored } from "../top-k.ts";
import { loadGraph, type GraphSource, type LoadedGraph } from "./graph-file.ts";
import { NEAR_LANES, type NearKernel, nearKernelModule, nearStep } from "./near-kernel.ts";
import { scoreHeap } from "./score-heap.ts";
import type { WebAssemblyApi } from "./wasm-code.ts";

/** A graph's search, without hnswlib: the same steps over the same file. */
export interface GraphSearch {
  /** @param query [D]. @returns at most k, best first, ties by position. */
  search(query: Float32Array, k: number, efSearch: number): Scored[];
}

/** Links of a record are at most 2·256. */
const MAX_LINKS = 512;
const SCORES = 4 * MAX_LINKS;
const QUERY = SCORES + 4 * MAX_LINKS;
const PAGE = 65_536;

/** Bytes that a graph may take: WebAssembly's addresses have 32 bits. */
export const MAX_GRAPH_BYTES = 2 ** 32 - PAGE;

/**
 * Loads a graph for searching.
 * @throws {DataError} INDEX_CORRUPT when its bytes are not those that were written.
 *
 * Source: algorithm 5 of arXiv 1603.09320 as hnswlib runs it. Different here: four vectors are compared at a time.
 */
export async function openGraphSearch(
  api: WebAssemblyApi,
  source: Omit<GraphSource, "memoryOf" | "reserved">,
): Promise<GraphSearch> {
  const { dimensions } = source;
  const step = nearStep(dimensions);
  const queryEnd = QUERY + 4 * step * Math.ceil(dimensions / step);
  let memory: { readonly buffer: ArrayBuffer } | null = null;
  const graph = await loadGraph({
    ...source,
    reserved: queryEnd,
    memoryOf: (bytes) => (memory = new api.Memory({ initial: Math.ceil(bytes / PAGE) })).buffer,
  });
  const module = new api.Module(nearKernelModule(dimensions));
  const { exports } = new api.Instance(module, { env: { memory } });
  const { near } = exports as NearKernel;
  const query = new Float32Array(graph.memory, QUERY, (queryEnd - QUERY) / 4);
  const addresses = new Uint32Array(graph.memory, 0, MAX_LINKS);
  const scores = new Float32Array(graph.memory, SCORES, MAX_LINKS);
  const base = graph.records + graph.vectorAt;
  const compare = (ids: Int32Array, count: number): Float32Array => {
    if (count === 0) return scores;
    const turns = Math.ceil(count / NEAR_LANES);
    for (let i = 0; i < turns * NEAR_LANES; i++) {
      addresses[i] = base + ids[i < count ? i : 0]! * graph.recordBytes;
    }
    near(0, turns, QUERY, queryEnd, SCORES);
    return scores;
  };
  const descend = descent(graph, compare);
  const spread = lowestLayer(graph, compare);
  return {
    search(given, k, efSearch) {
      query.fill(0);
      query.set(given);
      return spread(descend(), k, Math.max(k, efSearch));
    },
  };
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
): (start: number, k: number, ef: number) => Scored[] {
  const words = new Uint32Array(graph.memory, 0, Math.floor(graph.memory.byteLength / 4));
  const firstWord = graph.records / 4;
  const recordWords = graph.recordBytes / 4;
  const visited = new Uint16Array(graph.count);
  const ids = new Int32Array(MAX_LINKS);
  const candidates = scoreHeap(); // by score, negated: the best on top
  const found = scoreHeap(); // the worst on top
  let mark = 0;
  return (start, k, ef) => {
    mark = (mark + 1) & 0xffff;
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
      const at = firstWord + candidates.pop() * recordWords;
      const links = words[at]! & 0xffff;
      let fresh = 0;
      for (let i = 1; i <= links; i++) {
        const id = words[at + i]!;
        if (visited[id] === mark) continue;
        visited[id] = mark;
        ids[fresh++] = id;
      }
      if (fresh === 0) continue;
      const scores = compare(ids, fresh);
      for (let i = 0; i < fresh; i++) {
        const score = scores[i]!;
        if (found.size === ef) {
          if (score <= found.top()) continue;
          found.pop();
        }
        found.push(score, ids[i]!);
        candidates.push(-score, ids[i]!);
      }
    }
    return best(graph, words, found, k);
  };
}

/** Takes the best k out of a heap; vectors go by their labels. */
function best(
  graph: LoadedGraph,
  words: Uint32Array,
  found: ReturnType<typeof scoreHeap>,
  k: number,
): Scored[] {
  const hits: Scored[] = [];
  while (found.size > 0) {
    const score = found.top();
    const id = found.pop();
    const label = (graph.records + id * graph.recordBytes + graph.labelAt) / 4;
    if (found.size < k) hits.push({ position: words[label]!, score });
  }
  return hits.sort((a, b) => b.score - a.score || a.position - b.position);
}
