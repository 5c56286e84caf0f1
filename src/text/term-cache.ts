import { byteScratch, UnitTable } from "./unit-table.ts";

/** What a cache asks for the terms that it does not know yet; equal questions have equal answers. */
export interface TermSource {
  /** The terms of any text. */
  encode(text: string): string[];
  /** The same for one word of ASCII letters and digits, the short way. */
  encodeWord(word: string): readonly string[];
}

/** Units that are remembered before all is forgotten and begun anew: some 60 MB with their terms when full. */
const DEFAULT_CAPACITY = 2 ** 19;

/** Longer units, in bytes of UTF-8, are encoded each time: few of them come twice. */
const LONGEST_UNIT = 64;

/** Bytes of UTF-8 that belong to a unit: ASCII letters and digits (1), and all of every other character (2). */
const KINDS = new Uint8Array(256).fill(2, 128);
for (const code of Buffer.from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")) {
  KINDS[code] = 1;
}

const ASCII_WORD = /^[0-9A-Za-z]+$/;

/** Characters that normalise to a capital sigma. */
const CAPITAL_SIGMA = /[\u03a3\u03f9\u{1d6ba}\u{1d6f4}\u{1d72e}\u{1d768}\u{1d7a2}]/u;

/** A span says where a unit's terms begin and, in its last bits, their number: at most one per byte of the unit. */
const COUNT_BITS = 7;
const COUNT_MASK = 2 ** COUNT_BITS - 1;
const MOST_TERMS = 2 ** 20; // so that a span is a positive 32-bit number

/**
 * Gives an encoder's terms, asking it once for each distinct unit of text and not for each occurrence.
 *
 * A unit is what stands between ASCII characters that are neither letters nor digits. An encoder that normalises by
 * NFKD or NFKC, lower-cases and splits at what is neither a letter nor a digit gives for a text what it gives for the
 * text's units, one after the other: ASCII is left alone by both forms, and no mark moves or joins across it, but for a
 * stroke on <, = and >, where nothing becomes a letter. The one exception is the capital sigma: its lower case depends
 * on the letters beyond the next apostrophe or full stop, so a text that has one goes to the encoder whole.
 *
 * Terms come out of the memory, the same string object each time, so that a caller's look-up by term is cheap.
 */
export class TermCache {
  readonly #source: TermSource;
  readonly #units: UnitTable;
  readonly #spans = new Map<string, number>(); // by term, of units with one term
  #terms: string[] = [];
  #scratch = byteScratch(2 ** 14);

  /** @param capacity units that are remembered, a power of two. */
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

  /** Asks for the terms of a unit and keeps them. */
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
