/** A text's bytes, and the same memory as numbers. */
export interface ByteScratch {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Memory for `length` bytes, with the few beyond that `UnitTable` reads over and ignores. */
export function byteScratch(length: number): ByteScratch {
  const bytes = Buffer.allocUnsafeSlow(length + 4);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** The bytes that count among a key's last four, by the key's length modulo four. */
const TAIL_MASKS = Int32Array.of(-1, 0xff, 0xffff, 0xffffff);

/** A slot's low bits say where the record is; the others repeat the hash's, so that few records are read in vain. */
const AT_BITS = 22;
const AT_MASK = 2 ** AT_BITS - 1;
const TAG_MASK = ~AT_MASK;

/** Numbers of a record before its key: the key's length in bytes, the value. */
const HEAD = 2;

/** Slots to begin with, where the capacity is not smaller. */
const FIRST_SLOTS = 2 ** 15;

/** Numbers of a record of average length, the key's up to 12 bytes among them. */
const RECORD = HEAD + 3;

/**
 * Short byte strings → whole numbers, looked up where they stand in a text, without making a string of them.
 *
 * A hash table with open addressing, at most half full. Slots are small and records stand in the order in which they
 * came: frequent words, which come first, share few pages of memory. Keys are compared whole, four bytes at a time.
 */
export class UnitTable {
  readonly #capacity: number;
  #slots = new Int32Array(1); // 0 where free
  #records = new Int32Array(0);
  #end = 1; // of the records; 0 is no record
  #size = 0;

  /** @param capacity keys, a power of two up to 2¹⁹; memory is 28 bytes for each. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Whether there may be no room for one more key of `length` bytes. */
  isFull(length: number): boolean {
    const room = RECORD * this.#capacity - this.#end;
    return this.#size === this.#capacity || HEAD + length / 4 + 1 > room;
  }

  /** The value of the key that stands at bytes `start` to `end`, or -1; `end` is above `start`. */
  find({ view }: ByteScratch, start: number, end: number): number {
    const slots = this.#slots;
    const records = this.#records;
    const length = end - start;
    const lastAt = start + ((length - 1) & ~3);
    const last = view.getInt32(lastAt, true) & TAIL_MASKS[length & 3]!;
    let hash = length;
    for (let at = start; at < lastAt; at += 4) hash = mix(hash ^ view.getInt32(at, true));
    hash = mix(hash ^ last);
    const mask = slots.length - 1;
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (((slots[slot]! ^ hash) & TAG_MASK) !== 0) continue;
      const record = slots[slot]! & AT_MASK;
      if (records[record] !== length) continue;
      let key = record + HEAD;
      let at = start;
      while (at < lastAt && records[key] === view.getInt32(at, true)) {
        at += 4;
        key += 1;
      }
      if (at === lastAt && records[key] === last) return records[record + 1]!;
    }
    return -1;
  }

  /** Adds a key that is not there, where the table is not full. @param value 0 or more. */
  set({ view }: ByteScratch, [start, end]: readonly [number, number], value: number): void {
    const needed = this.#end + HEAD + (end - start) / 4 + 1;
    if (2 * this.#size >= this.#slots.length || needed > this.#records.length) this.#grow();
    const records = this.#records;
    const record = this.#end;
    const length = end - start;
    records[record] = length;
    records[record + 1] = value;
    this.#end += HEAD;
    let hash = length;
    for (let at = start; at < end; at += 4) {
      const counts = end - at < 4 ? TAIL_MASKS[length & 3]! : -1;
      const four = view.getInt32(at, true) & counts;
      records[this.#end++] = four;
      hash = mix(hash ^ four);
    }
    this.#place(hash, record);
    this.#size += 1;
  }

  #place(hash: number, record: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = (hash & TAG_MASK) | record;
  }

  /** Forgets every key. */
  clear(): void {
    this.#slots.fill(0);
    this.#end = 1;
    this.#size = 0;
  }

  /** Four times the room, up to the capacity's: queries know few words, corpora many. */
  #grow(): void {
    const slots = Math.min(2 * this.#capacity, Math.max(FIRST_SLOTS, 4 * this.#slots.length));
    const old = this.#records;
    this.#slots = new Int32Array(slots);
    this.#records = new Int32Array((RECORD * slots) / 2);
    this.#records.set(old.subarray(0, this.#end));
    for (let record = 1; record < this.#end;) {
      const length = old[record]!;
      const end = record + HEAD + Math.ceil(length / 4);
      let hash = length;
      for (let at = record + HEAD; at < end; at++) hash = mix(hash ^ old[at]!);
      this.#place(hash, record);
      record = end;
    }
  }
}

function mix(bits: number): number {
  const product = Math.imul(bits, 0x9e3779b1);
  return product ^ (product >>> 15);
}
