/**
 * The terms of a segment, in code-unit order, and the places of their postings.
 *
 *   terms.bin        blocks of 64 terms: per term its length in bytes, its UTF-8, passages, bytes of postings in units
 *                    of 8 (numbers are varints)
 *   term-blocks.bin  per block: its offset in terms.bin (f64), the offset of its first term's postings (f64), then the
 *                    first term's length (u16) and UTF-8
 *
 * Only the second is in memory: 1/64 of the vocabulary.
 */
import { type CheckedFile, corrupt, type FileWriter } from "../store/checked-file.ts";

const BLOCK_TERMS = 64;

/** An analyzer's terms have at most 255 UTF-16 units. */
const LONGEST_TERM_BYTES = 3 * 255;

export interface TermEntry {
  /** Its number among the terms, from 0. */
  row: number;
  /** Number of passages with it, including deleted ones. */
  df: number;
  /** Offset of its postings in postings.bin. */
  offset: number;
  bytes: number;
}

export interface TermDictionaryWriter {
  /** Terms so far. */
  readonly count: number;
  append(term: string, df: number, postingsBytes: number): void;
  /** Writes the rest; the caller closes the files. */
  end(): void;
}

export function termDictionaryWriter(
  terms: Pick<FileWriter, "append" | "bytes">,
  blocks: Pick<FileWriter, "append">,
): TermDictionaryWriter {
  const buffer = Buffer.alloc(BLOCK_TERMS * (LONGEST_TERM_BYTES + 16));
  let buffered = 0;
  let count = 0;
  let postings = 0;
  const flush = (): void => {
    terms.append(buffer.subarray(0, buffered));
    buffered = 0;
  };
  return {
    get count() {
      return count;
    },
    append(term, df, postingsBytes) {
      if (count % BLOCK_TERMS === 0) {
        flush();
        blocks.append(blockEntry(terms.bytes, postings, term));
      }
      buffered = writeVarint(buffer, buffered, Buffer.byteLength(term));
      buffered += buffer.write(term, buffered);
      buffered = writeVarint(buffer, buffered, df);
      buffered = writeVarint(buffer, buffered, postingsBytes / 8);
      postings += postingsBytes;
      count += 1;
    },
    end: flush,
  };
}

function blockEntry(offset: number, postings: number, first: string): Uint8Array {
  const text = Buffer.from(first);
  const entry = Buffer.alloc(18 + text.length);
  entry.writeDoubleLE(offset, 0);
  entry.writeDoubleLE(postings, 8);
  entry.writeUInt16LE(text.length, 16);
  text.copy(entry, 18);
  return entry;
}

export interface TermDictionary {
  /** @throws {DataError} INDEX_CORRUPT */
  find(term: string): TermEntry | null;
  /** All terms in order; for merging. */
  entries(): Generator<TermEntry & { term: string }>;
}

/**
 * @param blocks read completely; may be closed afterwards.
 * @param count number of terms in the manifest.
 * @throws {DataError} INDEX_CORRUPT
 */
export function openTermDictionary(
  terms: CheckedFile,
  blocks: CheckedFile,
  count: number,
): TermDictionary {
  const { firsts, offsets, postings } = readBlocks(blocks);
  if (firsts.length !== Math.ceil(count / BLOCK_TERMS))
    throw corrupt(`${blocks.path}: contains ${firsts.length} blocks for ${count} terms`);
  const readBlock = (block: number): Buffer => {
    const { buffer, byteOffset, length } = terms.read(
      offsets[block]!,
      offsets[block + 1] ?? terms.bytes,
    );
    return Buffer.from(buffer, byteOffset, length);
  };
  function* blockEntries(block: number): Generator<TermEntry & { term: string }> {
    const bytes = readBlock(block);
    let offset = postings[block]!;
    let row = block * BLOCK_TERMS;
    for (const reader = { at: 0 }; reader.at < bytes.length; row++) {
      const length = readVarint(bytes, reader);
      const term = bytes.toString("utf8", reader.at, reader.at + length);
      reader.at += length;
      const df = readVarint(bytes, reader);
      const postingsBytes = 8 * readVarint(bytes, reader);
      yield { term, row, df, offset, bytes: postingsBytes };
      offset += postingsBytes;
    }
  }
  return {
    find(term) {
      const block = lastAtMost(firsts, term);
      if (block < 0) return null;
      for (const { term: found, ...entry } of blockEntries(block)) {
        if (found === term) return entry;
      }
      return null;
    },
    *entries() {
      for (let block = 0; block < firsts.length; block++) yield* blockEntries(block);
    },
  };
}

function readBlocks(file: CheckedFile): {
  firsts: string[];
  offsets: number[];
  postings: number[];
} {
  const bytes = Buffer.from(file.read(0, file.bytes));
  const firsts: string[] = [];
  const offsets: number[] = [];
  const postings: number[] = [];
  for (let at = 0; at < bytes.length;) {
    offsets.push(bytes.readDoubleLE(at));
    postings.push(bytes.readDoubleLE(at + 8));
    const end = at + 18 + bytes.readUInt16LE(at + 16);
    firsts.push(bytes.toString("utf8", at + 18, end));
    at = end;
  }
  return { firsts, offsets, postings };
}

/** Index of the last value up to `wanted`; −1 when there is none. */
function lastAtMost(values: readonly string[], wanted: string): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** @returns the offset after the value. */
export function writeVarint(buffer: Uint8Array, start: number, value: number): number {
  let rest = value;
  let at = start;
  while (rest >= 128) {
    buffer[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  buffer[at++] = rest;
  return at;
}

/** Reads at `reader.at` and moves it after the value. */
export function readVarint(buffer: Uint8Array, reader: { at: number }): number {
  let value = 0;
  let scale = 1;
  for (;;) {
    const byte = buffer[reader.at++]!;
    value += (byte & 127) * scale;
    if (byte < 128) return value;
    scale *= 128;
  }
}
