/**
 * A run: the postings of consecutive passages, collected in memory and written sorted by term. Worker threads make runs, and
 * merged runs form a segment.
 *
 *   per term: length in bytes, UTF-8, passages, then per passage the distance from the one before and the frequency
 *   (numbers are varints; passages count from the run's first)
 */
import { DataError } from "../../base/errors.ts";
import type { FileWriter } from "../store/checked-file.ts";
import { writeVarint } from "./term-dictionary.ts";

export interface RunBuilder {
  /** Distinct terms so far. */
  readonly terms: number;
  /**
   * Adds the next passage.
   * @param id for the message.
   * @throws {DataError} PASSAGE_TOO_LONG when one term occurs more than 65 535 times.
   */
  add(terms: readonly string[], id: string): void;
  /** Writes the added passages and resets. @returns [passages] terms per passage. */
  write(out: Pick<FileWriter, "append">): Uint32Array<ArrayBuffer>;
}

const MOST_FREQUENT = 65_535;

export function runBuilder(): RunBuilder {
  const numbers = new Map<string, number>();
  let postings = emptyPostings(1 << 16);
  let postingCount = 0;
  /** By term: its latest posting. */
  let latest = new Uint32Array(1 << 12);
  let lengths = new Uint32Array(1 << 10);
  let passages = 0;
  const makeRoom = (words: number): void => {
    if (postingCount + words > postings.terms.length)
      postings = {
        terms: doubled(postings.terms, postingCount + words),
        passages: doubled(postings.passages, postingCount + words),
        frequencies: doubled(postings.frequencies, postingCount + words),
      };
    if (numbers.size + words > latest.length) latest = doubled(latest, numbers.size + words);
    if (passages === lengths.length) lengths = doubled(lengths, passages + 1);
  };
  return {
    get terms() {
      return numbers.size;
    },
    add(words, id) {
      makeRoom(words.length);
      const { terms, passages: places, frequencies } = postings;
      for (const word of words) {
        let number = numbers.get(word);
        if (number === undefined) {
          number = numbers.size;
          numbers.set(word, number);
        } else {
          const posting = latest[number]!;
          if (places[posting] === passages) {
            if (frequencies[posting] === MOST_FREQUENT) throw tooLong(id);
            frequencies[posting]! += 1;
            continue;
          }
        }
        latest[number] = postingCount;
        terms[postingCount] = number;
        places[postingCount] = passages;
        frequencies[postingCount] = 1;
        postingCount += 1;
      }
      lengths[passages++] = words.length;
    },
    write(out) {
      writeTerms(numbers, byTerm(numbers.size, postings, postingCount), out);
      const result = lengths.slice(0, passages);
      numbers.clear();
      postings = emptyPostings(1 << 16);
      postingCount = 0;
      passages = 0;
      return result;
    },
  };
}

/** Three numbers per posting, in insertion order. */
interface Postings {
  terms: Uint32Array<ArrayBuffer>;
  passages: Uint32Array<ArrayBuffer>;
  frequencies: Uint16Array<ArrayBuffer>;
}

function emptyPostings(size: number): Postings {
  return {
    terms: new Uint32Array(size),
    passages: new Uint32Array(size),
    frequencies: new Uint16Array(size),
  };
}

function doubled<A extends Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>>(
  array: A,
  needed: number,
): A {
  const size = Math.max(needed, 2 * array.length);
  const larger = (
    array instanceof Uint32Array ? new Uint32Array(size) : new Uint16Array(size)
  ) as A;
  larger.set(array);
  return larger;
}

interface SortedPostings {
  /** [terms + 1] first posting of each. */
  starts: Uint32Array;
  passages: Uint32Array;
  frequencies: Uint16Array;
}

/** Counting sort by term; stable, so passages stay ascending. */
function byTerm(count: number, postings: Postings, length: number): SortedPostings {
  const { terms, passages, frequencies } = postings;
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < length; i++) starts[terms[i]! + 1]! += 1;
  for (let term = 0; term < count; term++) starts[term + 1]! += starts[term]!;
  const next = starts.slice();
  const sorted = {
    starts,
    passages: new Uint32Array(length),
    frequencies: new Uint16Array(length),
  };
  for (let i = 0; i < length; i++) {
    const at = next[terms[i]!]!++;
    sorted.passages[at] = passages[i]!;
    sorted.frequencies[at] = frequencies[i]!;
  }
  return sorted;
}

const FLUSH_BYTES = 1 << 20;

function writeTerms(
  numbers: ReadonlyMap<string, number>,
  { starts, passages, frequencies }: SortedPostings,
  out: Pick<FileWriter, "append">,
): void {
  // Capacity for a term's head or one posting beyond the flush limit.
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
    `passage "${id}": one term occurs more than ${MOST_FREQUENT} times; this is the maximum. Split it into passages of a few hundred words.`,
  );
}
