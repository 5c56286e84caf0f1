import type { ScoreHeap } from "../score-heap.ts";

/** What `sumFloor` is told. */
export interface SumFloorOptions {
  /** What the floor works with, emptied first: of several floors over one heap only the latest may be used. */
  heap: ScoreHeap;
  /** Passages wanted. */
  k: number;
  /** What sums of all terms must exceed from the beginning. */
  limit: number;
  /** What the terms that are not yet in the sums add at most. */
  rest: number;
  /** The least share of a sum that is true, after what the sums so far may say too much has been taken off. */
  certain: number;
  excess: number;
  /** Whether the passage of a sum counts; deleted ones do not. */
  counts: (at: number) => boolean;
}

/** Keeps track of the k-th largest of the sums it is given: what lies far enough below it is of no interest any more. */
export interface SumFloor {
  /** What sums of all terms must exceed. */
  readonly limit: number;
  /** What the sums so far must exceed; not below 0. */
  readonly limitSoFar: number;
  /** Sums that do not exceed it change nothing. */
  readonly least: number;
  /** @param at distance of the sum's passage from the window's start; every passage once. */
  raise(sum: number, at: number): void;
}

/** A floor that rises. Whole numbers. */
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
