import type { ScoreHeap } from "../score-heap.ts";

/** Options of `sumFloor`. */
export interface SumFloorOptions {
  /** Working memory, emptied first: of several floors over one heap only the latest is usable. */
  heap: ScoreHeap;
  /** Number of passages wanted. */
  k: number;
  /** Initial limit for sums of all terms. */
  limit: number;
  /** Maximum contribution of the terms that are not yet in the sums. */
  rest: number;
  /** Lower bound of the true share of a sum, after the excess of the sums so far is subtracted. */
  certain: number;
  excess: number;
  /** Whether the passage of a sum counts; deleted passages do not. */
  counts: (at: number) => boolean;
}

/** Tracks the k-th largest sum: passages far enough below it are discarded. */
export interface SumFloor {
  /** Sums of all terms must exceed it. */
  readonly limit: number;
  /** Sums so far must exceed it; not below 0. */
  readonly limitSoFar: number;
  /** Sums up to it change nothing. */
  readonly least: number;
  /** @param at distance of the sum's passage from the window's start; every passage once. */
  raise(sum: number, at: number): void;
}

/** A floor that rises, for integers. */
export function sumFloor(options: SumFloorOptions): SumFloor {
  const { heap, k, limit, rest, certain, excess, counts } = options;
  heap.clear();
  let current = limit;
  return {
    get limit() {
      return current;
    },
    get limitSoFar() {
      return Math.max(0, current - rest);
    },
    get least() {
      return heap.size < k ? 0 : heap.top();
    },
    raise(sum, at) {
      if (!counts(at)) return;
      if (heap.size < k) heap.push(sum, at);
      else if (sum > heap.top()) heap.replaceTop(sum, at);
      else return;
      if (heap.size === k) current = Math.max(current, Math.floor(heap.top() * certain - excess));
    },
  };
}
