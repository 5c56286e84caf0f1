import { DataError } from "../../base/errors.ts";

/** For each term the passages that hold it. Passages are their positions in the corpus, from 0. */
export interface InvertedIndex {
  /** Term → its row. Rows are in code-unit order of the terms. */
  readonly terms: ReadonlyMap<string, number>;
  /** [rows + 1]; row r has the postings `starts[r]` up to `starts[r + 1]`. */
  readonly starts: Uint32Array;
  /** [postings] passages, ascending within a row. */
  readonly positions: Uint32Array;
  /** [postings] how often the passage has the term, at least 1. */
  readonly frequencies: Uint16Array;
  /** [N] terms per passage, repetitions counted. */
  readonly lengths: Uint32Array;
}

/** Collects passages one by one. */
export interface InvertedIndexBuilder {
  /** Passages and distinct terms so far. */
  readonly passages: number;
  readonly terms: number;
  /**
   * Adds the next passage.
   * @param id for the message.
   * @throws {DataError} PASSAGE_TOO_LONG when one term occurs more than 65 535 times.
   */
  add(terms: readonly string[], id: string): void;
  /** The finished index; the builder must not be used afterwards. */
  finish(): InvertedIndex;
}

const MOST_FREQUENT = 65_535;

/** An empty index to be filled: about 20 bytes per posting while building, 6 when finished. */
export function invertedIndexBuilder(): InvertedIndexBuilder {
  const ids = new Map<string, number>();
  const postingTerms = growing((size) => new Uint32Array(size));
  const postingPassages = growing((size) => new Uint32Array(size));
  const postingFrequencies = growing((size) => new Uint16Array(size));
  const lengths = growing((size) => new Uint32Array(size));
  const counts = new Map<number, number>();
  return {
    get passages() {
      return lengths.length;
    },
    get terms() {
      return ids.size;
    },
    add(terms, id) {
      counts.clear();
      for (const term of terms) {
        let termId = ids.get(term);
        if (termId === undefined) ids.set(term, (termId = ids.size));
        counts.set(termId, (counts.get(termId) ?? 0) + 1);
      }
      for (const [termId, frequency] of counts) {
        if (frequency > MOST_FREQUENT) throw tooLong(id, frequency);
        postingTerms.push(termId);
        postingPassages.push(lengths.length);
        postingFrequencies.push(frequency);
      }
      lengths.push(terms.length);
    },
    finish() {
      const sorted = [...ids.keys()].sort();
      const rows = new Uint32Array(ids.size);
      const terms = new Map<string, number>();
      sorted.forEach((term, row) => {
        rows[ids.get(term)!] = row;
        terms.set(term, row);
      });
      ids.clear();
      const postings = {
        rows: postingTerms.take().map((termId) => rows[termId]!),
        passages: postingPassages.take(),
        frequencies: postingFrequencies.take(),
      };
      return { terms, ...byRow(sorted.length, postings), lengths: lengths.take() };
    },
  };
}

interface Postings {
  rows: Uint32Array;
  passages: Uint32Array;
  frequencies: Uint16Array;
}

/** Counting sort by row; stable, so passages stay ascending. */
function byRow(
  rowCount: number,
  postings: Postings,
): Pick<InvertedIndex, "starts" | "positions" | "frequencies"> {
  const count = postings.rows.length;
  const starts = new Uint32Array(rowCount + 1);
  for (let i = 0; i < count; i++) starts[postings.rows[i]! + 1]! += 1;
  for (let row = 0; row < rowCount; row++) starts[row + 1]! += starts[row]!;
  const next = starts.slice();
  const positions = new Uint32Array(count);
  const frequencies = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    const row = postings.rows[i]!;
    const at = next[row]!;
    next[row] = at + 1;
    positions[at] = postings.passages[i]!;
    frequencies[at] = postings.frequencies[i]!;
  }
  return { starts, positions, frequencies };
}

function tooLong(id: string, frequency: number): DataError {
  return new DataError(
    "PASSAGE_TOO_LONG",
    `passage "${id}": one term occurs ${frequency} times; at most ${MOST_FREQUENT} are counted. Split it into passages of a few hundred words.`,
  );
}

interface Growing<A> {
  readonly length: number;
  push(value: number): void;
  take(): A;
}

/** A typed array that doubles. */
function growing<A extends Uint32Array | Uint16Array>(create: (size: number) => A): Growing<A> {
  let array = create(1024);
  let length = 0;
  return {
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
    take() {
      const taken = array.slice(0, length) as A;
      array = create(0);
      return taken;
    },
  };
}
