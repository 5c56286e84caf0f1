/** What `sumFloor` is told. */
export interface SumFloorOptions {
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
export function sumFloor({ k, limit, rest, certain, excess, counts }: SumFloorOptions): SumFloor {
  const heap: number[] = [];
  let current = limit;
  return {
    get limit() {
      return current;
    },
    get limitSoFar() {
      return Math.max(0, current - rest);
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
      if (heap.length === k) current = Math.max(current, Math.floor(heap[0]! * certain - excess));
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
