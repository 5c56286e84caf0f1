/** Produces the terms that the cache does not have; must be deterministic. */
interface TermSource {
  /** The terms of any text. */
  encode(text: string): string[];
  /** The same for one word of ASCII letters and digits, faster. */
  encodeWord(word: string): readonly string[];
}

/** Cached units; a full cache is cleared. About 60 MB with their terms. */
const DEFAULT_CAPACITY = 2 ** 19;

/** Units longer than this many UTF-8 bytes are not cached: few of them repeat. */
const LONGEST_UNIT = 64;

/** UTF-8 bytes inside a unit: ASCII letters and digits (1), bytes of all other characters (2). */
const KINDS = new Uint8Array(256).fill(2, 128);
for (const code of Buffer.from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
  KINDS[code] = 1;

const ASCII_WORD = /^[0-9A-Za-z]+$/;

/** Characters that normalise to a capital sigma. */
const CAPITAL_SIGMA = /[\u03a3\u03f9\u{1d6ba}\u{1d6f4}\u{1d72e}\u{1d768}\u{1d7a2}]/u;

/** A span is the index of a unit's first term and, in its low bits, their number: at most one per byte of the unit. */
const COUNT_BITS = 7;
const COUNT_MASK = 2 ** COUNT_BITS - 1;
const MOST_TERMS = 2 ** 20; // so that a span is a positive 32-bit number

/**
 * Caches an encoder's terms by unit, so that each distinct unit of text is encoded once.
 *
 * A unit is the text between ASCII characters that are neither letters nor digits. For an encoder that normalises by
 * NFKD or NFKC, lower-cases and splits at non-alphanumeric characters, the terms of a text are the terms of its
 * units in order: both forms keep ASCII unchanged, and no combining mark moves or joins across it, except for a
 * stroke on <, = and >, which produces no letter. The only exception is the capital sigma: its lower case depends
 * on the letters after the next apostrophe or full stop, so a text with a capital sigma is encoded as a whole.
 *
 * Equal terms are the same string object, which makes a caller's look-up by term cheap.
 */
export class TermCache {
  readonly #source: TermSource;
  readonly #units: UnitTable;
  readonly #spans = new Map<string, number>(); // by term, for units with one term
  #terms: string[] = [];
  #scratch = byteScratch(2 ** 14);

  /** @param capacity cached units, a power of two. */
  constructor(source: TermSource, capacity: number = DEFAULT_CAPACITY) {
    this.#source = source;
    this.#units = new UnitTable(capacity);
  }

  /** The source's terms of a text, in order. */
  analyze(text: string): string[] {
    // Lone surrogates become U+FFFD in UTF-8; both are separators.
    const room = 3 * text.length + 1;
    if (room > this.#scratch.bytes.length) this.#scratch = byteScratch(2 * room);
    const scratch = this.#scratch;
    const { bytes } = scratch;
    const units = this.#units;
    const end = bytes.write(text);
    bytes[end] = 0; // ends the last unit
    const found: string[] = [];
    let at = 0;
    for (;;) {
      while (at < end && KINDS[bytes[at]!] === 0) at += 1;
      if (at === end) return found;
      const start = at;
      do at += 1;
      while (KINDS[bytes[at]!] !== 0);
      let span = units.find(scratch, start, at);
      if (span === -1) {
        const unit = bytes.toString("utf8", start, at);
        if (CAPITAL_SIGMA.test(unit)) return this.#source.encode(text);
        if (at - start > LONGEST_UNIT) {
          for (const term of this.#source.encode(unit)) found.push(term);
          continue;
        }
        span = this.#learn(unit);
        units.set(scratch, [start, at], span);
      }
      const first = span >>> COUNT_BITS;
      const last = first + (span & COUNT_MASK);
      for (let i = first; i < last; i++) found.push(this.#terms[i]!);
    }
  }

  /** Encodes a unit and caches its terms. */
  #learn(unit: string): number {
    if (this.#units.isFull(LONGEST_UNIT) || this.#terms.length > MOST_TERMS) this.#forget();
    const encoded = ASCII_WORD.test(unit)
      ? this.#source.encodeWord(unit)
      : this.#source.encode(unit);
    const only = encoded.length === 1 ? encoded[0] : undefined;
    const known = only === undefined ? undefined : this.#spans.get(only);
    if (known !== undefined) return known;
    const span = (this.#terms.length << COUNT_BITS) | encoded.length;
    for (const term of encoded) this.#terms.push(term);
    if (only !== undefined) this.#spans.set(only, span);
    return span;
  }

  #forget(): void {
    this.#units.clear();
    this.#spans.clear();
    this.#terms = [];
  }
}

/** A text's bytes, and a numeric view of the same memory. */
interface ByteScratch {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Memory for `length` bytes, plus a few more that `UnitTable` reads and masks out. */
function byteScratch(length: number): ByteScratch {
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
class UnitTable {
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
