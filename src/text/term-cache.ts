import { byteScratch, UnitTable } from "./unit-table.ts";

/** Produces the terms that the cache does not have; must be deterministic. */
export interface TermSource {
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
