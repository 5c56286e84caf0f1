/** A text's bytes, and a numeric view of the same memory. */
export interface ByteScratch {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Memory for `length` bytes, plus a few more that `UnitTable` reads and masks out. */
export function byteScratch(length: number): ByteScratch {
  const bytes = Buffer.allocUnsafeSlow(length + 4);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** Masks of a key's last four bytes, by the key's length modulo four. */
const TAIL_MASKS = Int32Array.of(-1, 0xff, 0xffff, 0xffffff);

/** A slot's low bits are the record's position; the others repeat hash bits, so that few wrong records are read. */
const AT_BITS = 22;
const AT_MASK = 2 ** AT_BITS - 1;
const TAG_MASK = ~AT_MASK;

/** Numbers before a record's key: the key's length in bytes, and the value. */
const HEAD = 2;

/** Initial number of slots, unless the capacity is smaller. */
const FIRST_SLOTS = 2 ** 15;

/** Average length of a record in numbers, for keys up to 12 bytes. */
const RECORD = HEAD + 3;

/**
 * Maps short byte strings to integers; looks keys up in place, without creating strings.
 *
 * A hash table with open addressing, at most half full. Slots are small, and records are stored in insertion
 * order: frequent words come first and share few pages of memory. Keys are compared four bytes at a time.
 */
export class UnitTable {
  readonly #capacity: number;
  #slots = new Int32Array(1); // 0 where free
  #records = new Int32Array(0);
  #end = 1; // of the records; 0 is no record
  #size = 0;

  /** @param capacity keys, a power of two up to 2¹⁹; 28 bytes of memory each. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Whether one more key of `length` bytes may not fit. */
  isFull(length: number): boolean {
    const room = RECORD * this.#capacity - this.#end;
    return this.#size === this.#capacity || HEAD + length / 4 + 1 > room;
  }

  /** The value of the key in bytes `start` to `end`, or -1; the key must not be empty. */
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

  /** Adds a new key; the table must not be full. @param value 0 or more. */
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

  /** Removes every key. */
  clear(): void {
    this.#slots.fill(0);
    this.#end = 1;
    this.#size = 0;
  }

  /** Grows four-fold up to the capacity: queries need few entries, corpora many. */
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
