import type { Floor } from "./accumulator.ts";

/** What `sumFloor` is told. */
export interface SumFloorOptions {
  /** Passages wanted. */
  k: number;
  /** What sums must exceed from the beginning. */
  limit: number;
  /** What sums must exceed once k sums are known that are not smaller than the given one. */
  limitOf: (sum: number) => number;
  /** Whether the passage of a sum counts; deleted ones do not. */
  counts: (at: number) => boolean;
}

/** A floor that rises with the k-th largest sum it is given. Whole numbers. */
export function sumFloor({ k, limit, limitOf, counts }: SumFloorOptions): Floor {
  const heap: number[] = [];
  let current = Math.max(0, limit);
  return {
    get limit() {
      return current;
    },
    get least() {
      return heap.length < k ? 0 : heap[0]!;
    },
    raise(sum, at) {
      if (!counts(at)) return;
      if (heap.length < k) {
        heap.push(sum);
        siftUp(heap);
      } else if (sum > heap[0]!) {
        heap[0] = sum;
        siftDown(heap);
      } else return;
      if (heap.length === k) current = Math.max(current, Math.floor(limitOf(heap[0]!)));
    },
  };
}

function siftUp(heap: number[]): void {
  let at = heap.length - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]! <= heap[at]!) return;
    [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
    at = parent;
  }
}

function siftDown(heap: number[]): void {
  for (let at = 0; ;) {
    let least = at;
    for (let child = 2 * at + 1; child < Math.min(heap.length, 2 * at + 3); child++) {
      if (heap[child]! < heap[least]!) least = child;
    }
    if (least === at) return;
    [heap[at], heap[least]] = [heap[least]!, heap[at]!];
    at = least;
  }
}
