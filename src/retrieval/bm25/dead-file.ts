/**
 * The deleted passages of a segment, and the number of deleted passages per term. Subtracting these counts gives the scores
 * of an index built without the passages. It is one file, because two could become inconsistent: [2] u32 counts, positions
 * ascending (u32), rows of terms ascending (u32), deleted passages per row (u32).
 */
import { type CheckedFile, type FileEntry, createFile } from "../store/checked-file.ts";

export interface DeadPassages {
  /** Ascending. */
  positions: Uint32Array;
  /** By row of the dictionary: number of deleted passages with the term. */
  lost: ReadonlyMap<number, number>;
}

export const NONE_DEAD: DeadPassages = { positions: new Uint32Array(0), lost: new Map() };

export function writeDead(path: string, { positions, lost }: DeadPassages): FileEntry {
  const rows = Uint32Array.from(lost.keys()).sort();
  const counts = Uint32Array.from(rows, (row) => lost.get(row) ?? 0);
  const out = createFile(path);
  try {
    for (const array of [Uint32Array.of(positions.length, rows.length), positions, rows, counts])
      out.append(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return out.finish();
  } finally {
    out.abandon();
  }
}

/** @throws {DataError} INDEX_CORRUPT */
export function readDead(file: CheckedFile): DeadPassages {
  const { buffer, byteOffset } = file.read(0, file.bytes);
  const [dead = 0, terms = 0] = new Uint32Array(buffer, byteOffset, 2);
  const array = (from: number, length: number): Uint32Array =>
    new Uint32Array(buffer, byteOffset + 4 * from, length);
  const rows = array(2 + dead, terms);
  const counts = array(2 + dead + terms, terms);
  return {
    positions: array(2, dead),
    lost: new Map(Array.from(rows, (row, i) => [row, counts[i]!])),
  };
}

/** Bit p of word p >> 5 is set for every deleted passage; null without deletions. */
export function deadBits({ positions }: DeadPassages, count: number): Uint32Array | null {
  if (positions.length === 0) return null;
  const bits = new Uint32Array(Math.ceil(count / 32));
  for (const position of positions) bits[position >> 5]! |= 1 << (position & 31);
  return bits;
}

export function isSet(bits: Uint32Array | null, position: number): boolean {
  return bits !== null && ((bits[position >> 5]! >> (position & 31)) & 1) === 1;
}
