/**
 * `ids.u32`: passage positions by id. [N] × 12 bytes, ascending: hash of the id (two u32, high word first) and
 * position. Hashes are uniform, so a few pages around the expected position contain the answer.
 */
import type { CheckedFile, FileWriter } from "../store/checked-file.ts";

const ENTRY = 3;
const ENTRY_BYTES = 4 * ENTRY;

export interface IdCollector {
  readonly count: number;
  add(id: string): void;
  addHash(high: number, low: number): void;
  /** Entries in ascending order: hash (high, low), position; the collector must not be used afterwards. */
  sorted(): IdEntries;
}

export interface IdEntries {
  readonly highs: Uint32Array;
  readonly lows: Uint32Array;
  readonly positions: Uint32Array;
}

export function idCollector(): IdCollector {
  let highs = new Uint32Array(1024);
  let lows = new Uint32Array(1024);
  let count = 0;
  const addHash = (high: number, low: number): void => {
    if (count === highs.length) {
      highs = doubled(highs);
      lows = doubled(lows);
    }
    highs[count] = high;
    lows[count] = low;
    count += 1;
  };
  return {
    get count() {
      return count;
    },
    add(id) {
      const [high, low] = idHash(id);
      addHash(high, low);
    },
    addHash,
    sorted: () => sortEntries(highs.subarray(0, count), lows.subarray(0, count)),
  };
}

/** Neighbours with equal hash: a duplicate id, or (once in 10⁶ corpora of 10⁷ passages) a collision. */
export function* equalHashes({ highs, lows, positions }: IdEntries): Generator<[number, number]> {
  for (let i = 1; i < highs.length; i++) {
    if (highs[i] !== highs[i - 1] || lows[i] !== lows[i - 1]) continue;
    yield [positions[i - 1]!, positions[i]!];
  }
}

/** Writes `ids.u32`. */
export function writeIds({ highs, lows, positions }: IdEntries, out: FileWriter): void {
  const batch = new Uint32Array(ENTRY * 4096);
  for (let from = 0; from < highs.length; from += 4096) {
    const to = Math.min(highs.length, from + 4096);
    for (let i = from, at = 0; i < to; i++, at += ENTRY) {
      batch[at] = highs[i]!;
      batch[at + 1] = lows[i]!;
      batch[at + 2] = positions[i]!;
    }
    out.append(new Uint8Array(batch.buffer, 0, ENTRY_BYTES * (to - from)));
  }
}

/**
 * The positions whose id has the hash of `id`; the caller must compare the ids.
 * @throws {DataError} INDEX_CORRUPT
 */
export function findId(file: CheckedFile, id: string): number[] {
  const count = file.bytes / ENTRY_BYTES;
  const [high, low] = idHash(id);
  const expected = Math.floor((high / 2 ** 32) * count);
  // The standard deviation of a hash's position is up to half the square root of the number of hashes.
  for (let margin = 32 + Math.ceil(Math.sqrt(count)); ; margin *= 4) {
    const from = Math.max(0, expected - margin);
    const to = Math.min(count, expected + margin);
    const entries = entriesOf(file.read(ENTRY_BYTES * from, ENTRY_BYTES * to));
    const isBelow = from === 0 || (to > from && entries[0]! < high);
    const isAbove = to === count || (to > from && entries[entries.length - ENTRY]! > high);
    if (isBelow && isAbove) return positionsOf(entries, high, low);
  }
}

/** All entries, in ascending order of hash; for merging. */
export function readIds(file: CheckedFile): Uint32Array {
  return entriesOf(file.read(0, file.bytes));
}

function entriesOf({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length / 4);
}

function positionsOf(entries: Uint32Array, high: number, low: number): number[] {
  const positions: number[] = [];
  for (let at = 0; at < entries.length; at += ENTRY) {
    if (entries[at] === high && entries[at + 1] === low) positions.push(entries[at + 2]!);
  }
  return positions;
}

/** 64-bit hash of a string: two halves, each FNV-1a over UTF-16 units with murmur3's finaliser. */
export function idHash(id: string): [high: number, low: number] {
  let high = 0x811c9dc5;
  let low = 0x9747b28c;
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5bd1e995) ^ (low >>> 15);
  }
  return [mixed(high), mixed(low ^ id.length)];
}

function mixed(value: number): number {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length);
  larger.set(array);
  return larger;
}

/** Radix sort by the high word, 11 bits at a time; the few equal ones are then sorted by the low word. */
function sortEntries(highs: Uint32Array, lows: Uint32Array): IdEntries {
  const count = highs.length;
  let order = Uint32Array.from({ length: count }, (_, i) => i);
  let other = new Uint32Array(count);
  for (const shift of [0, 11, 22]) {
    const starts = new Uint32Array(2049);
    for (let i = 0; i < count; i++) starts[((highs[i]! >>> shift) & 2047) + 1]! += 1;
    for (let digit = 0; digit < 2048; digit++) starts[digit + 1]! += starts[digit]!;
    for (let i = 0; i < count; i++) {
      const entry = order[i]!;
      other[starts[(highs[entry]! >>> shift) & 2047]!++] = entry;
    }
    [order, other] = [other, order];
  }
  for (let i = 1; i < count; i++) {
    const entry = order[i]!;
    let at = i;
    while (
      at > 0 &&
      highs[order[at - 1]!] === highs[entry] &&
      lows[order[at - 1]!]! > lows[entry]!
    ) {
      order[at] = order[at - 1]!;
      at -= 1;
    }
    order[at] = entry;
  }
  return {
    highs: order.map((entry) => highs[entry]!),
    lows: order.map((entry) => lows[entry]!),
    positions: order,
  };
}
