/** The steps of a graph's search; how near a vector is to the query is the caller's affair. */
import { type Scored, type ScoreHeap, scoreHeap } from "../top-k.ts";
import type { LoadedGraph } from "./graph-file.ts";

/** Ids that are compared at once: links of a record are at most 2·256. */
export const MAX_LINKS = 512;

/** Compares vectors with the query, by their ids. */
export interface Comparing {
  /** The ids, and the scores of the last comparison. */
  readonly ids: Int32Array;
  readonly scores: Float32Array;
  /** Scores the first `count` ids. */
  compare: (count: number) => void;
  /** Lists and scores the unmarked neighbours of a score above the floor: as `NearKernel.expand`. */
  expand: (links: number, next: number, mark: number, floor: number) => number;
}

/** From the entry point through the upper layers, each time to the best neighbour until there is none better. */
export function descent(graph: LoadedGraph, { ids, scores, compare }: Comparing): () => number {
  return () => {
    let best = graph.entryPoint;
    ids[0] = best;
    compare(1);
    let bestScore = scores[0]!;
    for (let layer = graph.topLayer; layer > 0; layer--) {
      for (let moved = true; moved;) {
        moved = false;
        const links = graph.upperLinks(best, layer);
        const count = links[0]! & 0xffff;
        for (let i = 0; i < count; i++) ids[i] = links[i + 1]!;
        compare(count);
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

/**
 * The lowest layer: from the best candidate on, until none can enter the best `ef`.
 * @param marks a byte of each vector.
 */
export function lowestLayer(
  { records, recordBytes }: LoadedGraph,
  { ids, scores, compare, expand }: Comparing,
  marks: Uint8Array,
): (start: number, ef: number) => ScoreHeap {
  const candidates = scoreHeap(); // by score, negated: the best on top
  const found = scoreHeap(); // the worst on top
  // Addresses beyond 2³¹ are negative here and right in WebAssembly.
  const linksOf = (id: number): number => (records + Math.imul(id, recordBytes)) | 0;
  let mark = 0;
  return (start, ef) => {
    mark = (mark + 1) & 0xff;
    if (mark === 0) {
      marks.fill(0);
      mark = 1;
    }
    candidates.clear();
    found.clear();
    ids[0] = start;
    marks[start] = mark;
    compare(1);
    candidates.push(-scores[0]!, start);
    found.push(scores[0]!, start);
    while (candidates.size > 0) {
      const isFull = found.size === ef;
      if (isFull && -candidates.top() < found.top()) break;
      const links = linksOf(candidates.pop());
      const next = candidates.size > 0 ? linksOf(candidates.topItem()) : links;
      const count = expand(links, next, mark, isFull ? found.top() : -Infinity);
      for (let i = 0; i < count; i++) {
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
  { ids, scores, compare }: Comparing,
): (found: ScoreHeap, k: number) => Scored[] {
  const words = new Uint32Array(graph.memory, graph.records, (graph.count * graph.recordBytes) / 4);
  const labelOf = (id: number): number => words[(id * graph.recordBytes + graph.labelAt) / 4]!;
  return (found, k) => {
    while (found.size > rescored(k)) found.pop();
    const hits: Scored[] = [];
    while (found.size > 0) {
      const size = Math.min(MAX_LINKS, found.size);
      for (let i = 0; i < size; i++) ids[i] = found.pop();
      compare(size);
      for (let i = 0; i < size; i++) hits.push({ position: labelOf(ids[i]!), score: scores[i]! });
    }
    return hits.sort((a, b) => b.score - a.score || a.position - b.position).slice(0, k);
  };
}
