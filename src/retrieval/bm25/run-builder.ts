/**
 * A run: the postings of consecutive passages, collected in memory and written sorted by term. An index is made of
 * runs: they are what worker threads make, and merged they are a segment.
 *
 *   per term: length in bytes, UTF-8, passages, then per passage the distance from the one before and the frequency
 *   (numbers are varints; passages count from the run's first)
 */
import { DataError } from "../../base/errors.ts";
import type { FileWriter } from "../store/file-writer.ts";
import { writeVarint } from "./term-dictionary.ts";

/** Collects the terms of passages. */
export interface RunBuilder {
  /** Distinct terms so far. */
  readonly terms: number;
  /**
   * Adds the next passage.
   * @param id for the message.
   * @throws {DataError} PASSAGE_TOO_LONG when one term occurs more than 65 535 times.
   */
  add(terms: readonly string[], id: string): void;
  /** Writes what was added and begins anew. @returns [passages] terms per passage. */
  write(out: Pick<FileWriter, "append">): Uint32Array<ArrayBuffer>;
}

const MOST_FREQUENT = 65_535;

export function runBuilder(): RunBuilder {
  const numbers = new Map<string, number>();
  const terms = growing((size) => new Uint32Array(size));
  const passages = growing((size) => new Uint32Array(size));
  const frequencies = growing((size) => new Uint16Array(size));
  const lengths = growing((size) => new Uint32Array(size));
  /** By term: its latest posting. */
  const latest = growing((size) => new Uint32Array(size));
  return {
    get terms() {
      return numbers.size;
    },
    add(words, id) {
      const passage = lengths.length;
      for (const word of words) {
        let number = numbers.get(word);
        if (number === undefined) {
          number = numbers.size;
          numbers.set(word, number);
          latest.push(terms.length);
        } else {
          const posting = latest.array[number]!;
          if (passages.array[posting] === passage) {
            if (frequencies.array[posting] === MOST_FREQUENT) throw tooLong(id);
            frequencies.array[posting]! += 1;
            continue;
          }
          latest.array[number] = terms.length;
        }
        terms.push(number);
        passages.push(passage);
        frequencies.push(1);
      }
      lengths.push(words.length);
    },
    write(out) {
      const postings = byTerm(numbers.size, { terms, passages, frequencies });
      writeTerms(numbers, postings, out);
      const result = lengths.array.slice(0, lengths.length);
      numbers.clear();
      for (const array of [terms, passages, frequencies, lengths, latest]) array.clear();
      return result;
    },
  };
}

interface Postings {
  terms: Growing<Uint32Array<ArrayBuffer>>;
  passages: Growing<Uint32Array<ArrayBuffer>>;
  frequencies: Growing<Uint16Array<ArrayBuffer>>;
}

interface SortedPostings {
  /** [terms + 1] first posting of each. */
  starts: Uint32Array;
  passages: Uint32Array;
  frequencies: Uint16Array;
}

/** Counting sort by term; stable, so passages stay ascending. */
function byTerm(count: number, { terms, passages, frequencies }: Postings): SortedPostings {
  const starts = new Uint32Array(count + 1);
  const { length } = terms;
  for (let i = 0; i < length; i++) starts[terms.array[i]! + 1]! += 1;
  for (let term = 0; term < count; term++) starts[term + 1]! += starts[term]!;
  const next = starts.slice();
  const sorted = {
    starts,
    passages: new Uint32Array(length),
    frequencies: new Uint16Array(length),
  };
  for (let i = 0; i < length; i++) {
    const at = next[terms.array[i]!]!++;
    sorted.passages[at] = passages.array[i]!;
    sorted.frequencies[at] = frequencies.array[i]!;
  }
  return sorted;
}

const FLUSH_BYTES = 1 << 20;

function writeTerms(
  numbers: ReadonlyMap<string, number>,
  { starts, passages, frequencies }: SortedPostings,
  out: Pick<FileWriter, "append">,
): void {
  // Room for a term's head or one posting beyond the flush.
  const buffer = Buffer.allocUnsafe(FLUSH_BYTES + 2048);
  let at = 0;
  const flush = (): void => {
    out.append(buffer.subarray(0, at));
    at = 0;
  };
  for (const term of [...numbers.keys()].sort()) {
    if (at >= FLUSH_BYTES) flush();
    const number = numbers.get(term)!;
    const from = starts[number]!;
    const to = starts[number + 1]!;
    at = writeVarint(buffer, at, Buffer.byteLength(term));
    at += buffer.write(term, at);
    at = writeVarint(buffer, at, to - from);
    let before = 0;
    for (let i = from; i < to; i++) {
      if (at >= FLUSH_BYTES) flush();
      at = writeVarint(buffer, at, passages[i]! - before);
      at = writeVarint(buffer, at, frequencies[i]!);
      before = passages[i]!;
    }
  }
  flush();
}

function tooLong(id: string): DataError {
  return new DataError(
    "PASSAGE_TOO_LONG",
    `passage "${id}": one term occurs more than ${MOST_FREQUENT} times; at most that many are counted. Split it into passages of a few hundred words.`,
  );
}

interface Growing<A> {
  /** Longer than `length`; another one after a `push` that did not fit. */
  readonly array: A;
  readonly length: number;
  push(value: number): void;
  clear(): void;
}

/** A typed array that doubles. */
function growing<A extends Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>>(
  create: (size: number) => A,
): Growing<A> {
  let array = create(1024);
  let length = 0;
  return {
    get array() {
      return array;
    },
    get length() {
      return length;
    },
    push(value) {
      if (length === array.length) {
        const larger = create(2 * length);
        larger.set(array);
        array = larger;
      }
      array[length] = value;
      length += 1;
    },
    clear() {
      length = 0;
    },
  };
}
