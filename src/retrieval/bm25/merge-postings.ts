import { type CheckedFile, corrupt } from "../store/checked-file.ts";
import type { PostingsWriter } from "./postings-format.ts";
import { readVarint, type TermDictionaryWriter } from "./term-dictionary.ts";

export interface PostingsList {
  passages: Uint32Array;
  frequencies: Uint16Array;
  count: number;
}

/** Terms and their postings, in code-unit order. */
export interface PostingsSource {
  /** The current term; null after the last. */
  readonly term: string | null;
  /** Appends the current term's postings, as positions in the merged corpus, and moves to the next term. */
  takeInto(list: PostingsList): void;
}

/**
 * Merges sources: each term once, with its postings in the order of the sources.
 *
 * @param sources each has later passages than the one before.
 * @returns numbers of written terms and postings. Omits terms without postings. Yields at intervals, so
 *   that the caller can run other work or stop.
 */
export function* mergePostings(
  sources: readonly PostingsSource[],
  { dictionary, postings }: { dictionary: TermDictionaryWriter; postings: PostingsWriter },
): Generator<undefined, { terms: number; postings: number }> {
  const heap = sourceHeap(sources);
  const list: PostingsList = {
    passages: new Uint32Array(1024),
    frequencies: new Uint16Array(1024),
    count: 0,
  };
  let total = 0;
  for (let term = heap.term(); term !== null; term = heap.term()) {
    list.count = 0;
    while (heap.term() === term) heap.takeInto(list);
    if (list.count === 0) continue;
    const bytes = postings.append(list.passages, list.frequencies, list.count);
    dictionary.append(term, list.count, bytes);
    total += list.count;
    if (dictionary.count % TERMS_PER_TURN === 0) yield;
  }
  dictionary.end();
  return { terms: dictionary.count, postings: total };
}

const TERMS_PER_TURN = 4096;

/** Ensures capacity for `more` postings. */
export function reserve(list: PostingsList, more: number): void {
  const needed = list.count + more;
  if (needed <= list.passages.length) return;
  const size = Math.max(needed, 2 * list.passages.length);
  const { passages, frequencies } = list;
  list.passages = new Uint32Array(size);
  list.passages.set(passages);
  list.frequencies = new Uint16Array(size);
  list.frequencies.set(frequencies);
}

/**
 * A run (run-builder.ts) as a source.
 * @param base position of the run's first passage.
 */
export function runSource(run: CheckedFile, base: number): PostingsSource {
  const reader = sequentialReader(run);
  let term: string | null = null;
  let count = 0;
  const readHead = (): void => {
    if (!reader.ensure(1)) {
      term = null;
      return;
    }
    reader.ensure(HEAD_BYTES);
    const length = readVarint(reader.bytes, reader);
    term = reader.bytes.toString("utf8", reader.at, reader.at + length);
    reader.at += length;
    count = readVarint(reader.bytes, reader);
  };
  readHead();
  return {
    get term() {
      return term;
    },
    takeInto(list) {
      reserve(list, count);
      let passage = base;
      let { count: at } = list;
      for (let left = count; left > 0; left--) {
        if (reader.bytes.length - reader.at < POSTING_BYTES) reader.ensure(POSTING_BYTES);
        passage += readVarint(reader.bytes, reader);
        list.passages[at] = passage;
        list.frequencies[at] = readVarint(reader.bytes, reader);
        at += 1;
      }
      list.count = at;
      readHead();
    },
  };
}

/** Maximum bytes of a term's head and a posting. */
const HEAD_BYTES = 1024;
const POSTING_BYTES = 16;

const READ_BYTES = 1 << 17;

interface SequentialReader {
  bytes: Buffer;
  at: number;
  /** Reads until `wanted` bytes are available or the file ends. @returns whether they are. */
  ensure(wanted: number): boolean;
}

function sequentialReader(file: CheckedFile): SequentialReader {
  let next = 0;
  return {
    bytes: Buffer.alloc(0),
    at: 0,
    ensure(wanted) {
      if (this.bytes.length - this.at >= wanted) return true;
      const end = Math.min(file.bytes, next + READ_BYTES);
      if (end > next) {
        this.bytes = Buffer.concat([this.bytes.subarray(this.at), file.read(next, end)]);
        this.at = 0;
        next = end;
      }
      return this.bytes.length - this.at >= wanted;
    },
  };
}

interface SourceHeap {
  term(): string | null;
  /** Takes from the first source with this term. */
  takeInto(list: PostingsList): void;
}

/** A binary heap of sources, ordered by their current term and then by source. */
function sourceHeap(sources: readonly PostingsSource[]): SourceHeap {
  const heap = sources.map((source, order) => ({ source, order })).filter(hasTerm);
  const isBefore = (i: number, j: number): boolean => {
    const left = heap[i]!;
    const right = heap[j]!;
    const [a, b] = [left.source.term!, right.source.term!];
    return a < b || (a === b && left.order < right.order);
  };
  const siftDown = (start: number): void => {
    for (let at = start; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && isBefore(child, least)) least = child;
      }
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least]!, heap[at]!];
      at = least;
    }
  };
  for (let i = heap.length >> 1; i >= 0; i--) siftDown(i);
  return {
    term: () => heap[0]?.source.term ?? null,
    takeInto(list) {
      const { source } = heap[0]!;
      const before = source.term!;
      source.takeInto(list);
      if (source.term === null) {
        const last = heap.pop()!;
        if (heap.length > 0) heap[0] = last;
      } else if (source.term <= before) throw corrupt(`term "${source.term}" is out of order`);
      siftDown(0);
    },
  };
}

function hasTerm({ source }: { source: PostingsSource }): boolean {
  return source.term !== null;
}
