/** Numbers with scores, the lowest on top: a binary heap in typed arrays, which searches go through by the thousand. */
export interface ScoreHeap {
  size: number;
  /** The lowest score; 0 of an empty heap. */
  top(): number;
  /** Its item; the heap must not be empty. */
  topItem(): number;
  push(score: number, item: number): void;
  /** Takes the item of the lowest score away; the heap must not be empty. */
  pop(): number;
  /** As `pop` and then `push`, in one go; the heap must not be empty. */
  replaceTop(score: number, item: number): void;
  clear(): void;
}

/** An empty heap; it grows as needed. */
export function scoreHeap(): ScoreHeap {
  let scores = new Float64Array(1024);
  let items = new Int32Array(1024);
  /** Puts an item where the top was. */
  const sink = (score: number, item: number): void => {
    const { size } = heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && scores[child + 1]! < scores[child]!) child++;
      if (scores[child]! >= score) break;
      scores[at] = scores[child]!;
      items[at] = items[child]!;
      at = child;
    }
    scores[at] = score;
    items[at] = item;
  };
  const heap: ScoreHeap = {
    size: 0,
    top: () => scores[0]!,
    topItem: () => items[0]!,
    push(score, item) {
      if (heap.size === items.length) {
        scores = grown(scores, new Float64Array(2 * scores.length));
        items = grown(items, new Int32Array(2 * items.length));
      }
      let at = heap.size++;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        if (scores[parent]! <= score) break;
        scores[at] = scores[parent]!;
        items[at] = items[parent]!;
        at = parent;
      }
      scores[at] = score;
      items[at] = item;
    },
    pop() {
      const taken = items[0]!;
      heap.size -= 1;
      sink(scores[heap.size]!, items[heap.size]!);
      return taken;
    },
    replaceTop: (score, item) => {
      sink(score, item);
    },
    clear() {
      heap.size = 0;
      scores[0] = 0;
    },
  };
  return heap;
}

function grown<T extends Float64Array | Int32Array>(from: T, into: T): T {
  into.set(from);
  return into;
}
