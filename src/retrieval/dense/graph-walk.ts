/** The steps of a graph's search; how far a query is from a vector is the caller's affair. */
import type { Scored } from "../top-k.ts";
import type { LoadedGraph } from "./graph-file.ts";
import { type ScoreHeap, scoreHeap } from "./score-heap.ts";

/** Ids that are compared at once: links of a record are at most 2·256. */
export const MAX_LINKS = 512;

/** @returns scores of the first `count` ids, valid until the next call. */
export type Compare = (ids: Int32Array, count: number) => Float32Array;

/** From the entry point through the upper layers, each time to the best neighbour until there is none better. */
export function descent(graph: LoadedGraph, compare: Compare): () => number {
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
export function lowestLayer(
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
export function bestOf(
  graph: LoadedGraph,
  compare: Compare,
): (found: ScoreHeap, k: number) => Scored[] {
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
