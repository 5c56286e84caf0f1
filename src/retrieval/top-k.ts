/** A passage's place in the corpus and its score. */
export interface Scored {
  position: number;
  score: number;
}

/** Keeps the best k of what it is offered; among equal scores the lower position wins. */
export interface TopK {
  /** The score that a later position must exceed to get in, and an earlier one reach; the floor until k are held. */
  readonly threshold: number;
  /** Positions may come in any order, each once. */
  offer(position: number, score: number): void;
  /** What is held, best first. */
  take(): Scored[];
}

/**
 * An empty selection: a binary heap with the worst held one on top, so n offers cost O(n log k).
 *
 * @param k at least 1.
 * @param floor scores up to it are never held: 0 where only matches score more, −∞ where any score counts.
 */
export function topK(k: number, floor = 0): TopK {
  const heap: Scored[] = [];
  let threshold = floor;
  return {
    get threshold() {
      return threshold;
    },
    offer(position, score) {
      if (score <= threshold && (heap.length < k || score < threshold)) return;
      const offered = { position, score };
      if (heap.length < k) {
        heap.push(offered);
        siftUp(heap);
      } else {
        if (!isWorse(heap[0]!, offered)) return;
        heap[0] = offered;
        siftDown(heap);
      }
      if (heap.length === k) threshold = heap[0]!.score;
    },
    take: () => [...heap].sort((a, b) => (isWorse(a, b) ? 1 : -1)),
  };
}

function isWorse(a: Scored, b: Scored): boolean {
  return a.score < b.score || (a.score === b.score && a.position > b.position);
}

function siftUp(heap: Scored[]): void {
  let at = heap.length - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isWorse(heap[at]!, heap[parent]!)) return;
    swap(heap, at, parent);
    at = parent;
  }
}

function siftDown(heap: Scored[]): void {
  let at = 0;
  for (;;) {
    let worst = at;
    for (const child of [2 * at + 1, 2 * at + 2]) {
      if (child < heap.length && isWorse(heap[child]!, heap[worst]!)) worst = child;
    }
    if (worst === at) return;
    swap(heap, at, worst);
    at = worst;
  }
}

function swap(heap: Scored[], i: number, j: number): void {
  const held = heap[i]!;
  heap[i] = heap[j]!;
  heap[j] = held;
}

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
    replaceTop: (score, item) => sink(score, item),
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
