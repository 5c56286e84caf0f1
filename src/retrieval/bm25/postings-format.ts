/**
 * A term's postings as bytes: passages ascending, cut into blocks of 128.
 *
 *   skip table   [blocks] × 16 bytes: last passage u32 · end of the block's data u32, in units of 8 bytes from the
 *                first block · bound f32 · form u32
 *   blocks       passages as distances from the block before's last + 1 (u16, or u32 where one is ≥ 65 536), impacts
 *                (u8), then frequencies (nothing where all are 1, u8, or u16), padded to 8 bytes
 *
 * All little-endian; a term begins at a multiple of 8. A posting's score is its `termScore` under the mean length at the
 * time of writing. A block's bound is its largest score, rounded up; a posting's impact is its score in 255ths of
 * the term's largest bound, rounded up. Both are upper bounds: bounds skip blocks, impacts
 * discard passages, and the remaining passages are scored from frequencies and lengths. Nothing is packed tighter than bytes,
 * so that a posting is read in place, without unpacking its block.
 */
import type { FileWriter } from "../store/checked-file.ts";
import { type Bm25Tables, termScore } from "./formula.ts";

/** Postings per block; the last block of a term may have fewer. */
export const BLOCK = 128;

/** Bytes per entry of the skip table. */
export const SKIP_BYTES = 16;

/** Maximum bytes of a block's data: wide distances, impacts, wide frequencies, padding. */
const MOST_BLOCK_BYTES = BLOCK * 7 + 8;

/** Bits of a block's form. */
export const WIDE_PASSAGES = 1;
export const BYTE_FREQUENCIES = 2;
export const WIDE_FREQUENCIES = 4;

/** Writes terms one after the other. */
export interface PostingsWriter {
  /**
   * @param passages [≥ count] ascending.
   * @param frequencies [≥ count] at least 1.
   * @returns bytes written.
   */
  append(passages: Uint32Array, frequencies: Uint16Array, count: number): number;
}

/** Impacts are from 1 to this. */
export const MOST_IMPACT = 255;

/**
 * @param lengths [N] terms per passage.
 * @param tables of the final corpus.
 */
export function postingsWriter(
  out: Pick<FileWriter, "append">,
  lengths: Uint32Array,
  tables: Bm25Tables,
): PostingsWriter {
  let data = new DataView(new ArrayBuffer(1 << 16));
  let scores = new Float64Array(1024);
  return {
    append(passages, frequencies, count) {
      const blocks = Math.ceil(count / BLOCK);
      const most = blocks * (SKIP_BYTES + MOST_BLOCK_BYTES);
      if (data.byteLength < most) data = new DataView(new ArrayBuffer(2 * most));
      if (scores.length < count) scores = new Float64Array(2 * count);
      let largest = 0;
      for (let i = 0; i < count; i++) {
        const score = termScore(frequencies[i]!, lengths[passages[i]!]!, tables);
        scores[i] = score;
        if (score > largest) largest = score;
      }
      const bound = roundedUp(largest);
      const first = blocks * SKIP_BYTES;
      let at = first;
      let base = 0;
      for (let block = 0; block < blocks; block++) {
        const from = block * BLOCK;
        const to = Math.min(count, from + BLOCK);
        const last = passages[to - 1]!;
        const range = { passages, frequencies, scores, from, to, base };
        const form = formOf(range);
        at = writeBlock(data, at, { ...range, form, bound });
        const skip = block * SKIP_BYTES;
        data.setUint32(skip, last, true);
        data.setUint32(skip + 4, (at - first) / 8, true);
        data.setFloat32(skip + 8, roundedUp(largestOf(scores, from, to)), true);
        data.setUint32(skip + 12, form, true);
        base = last + 1;
      }
      out.append(new Uint8Array(data.buffer, 0, at));
      return at;
    },
  };
}

interface Range {
  passages: Uint32Array;
  frequencies: Uint16Array;
  /** `termScore` of each posting. */
  scores: Float64Array;
  from: number;
  to: number;
  /** Origin of distances. */
  base: number;
}

function formOf({ passages, frequencies, from, to, base }: Range): number {
  let most = 1;
  for (let i = from; i < to; i++) if (frequencies[i]! > most) most = frequencies[i]!;
  const width = most === 1 ? 0 : most < 256 ? BYTE_FREQUENCIES : WIDE_FREQUENCIES;
  return width | (passages[to - 1]! - base >= 1 << 16 ? WIDE_PASSAGES : 0);
}

/** @returns the offset of the block's end. */
function writeBlock(
  data: DataView,
  start: number,
  {
    passages,
    frequencies,
    scores,
    from,
    to,
    base,
    form,
    bound,
  }: Range & { form: number; bound: number },
): number {
  let at = start;
  if ((form & WIDE_PASSAGES) !== 0) {
    for (let i = from; i < to; i++, at += 4) data.setUint32(at, passages[i]! - base, true);
  } else {
    for (let i = from; i < to; i++, at += 2) data.setUint16(at, passages[i]! - base, true);
  }
  for (let i = from; i < to; i++, at++) data.setUint8(at, impactOf(scores[i]!, bound));
  if ((form & BYTE_FREQUENCIES) !== 0) {
    for (let i = from; i < to; i++, at++) data.setUint8(at, frequencies[i]!);
  } else if ((form & WIDE_FREQUENCIES) !== 0) {
    // Impacts may end at an odd offset.
    if (at % 2 === 1) data.setUint8(at++, 0);
    for (let i = from; i < to; i++, at += 2) data.setUint16(at, frequencies[i]!, true);
  }
  while (at % 8 !== 0) data.setUint8(at++, 0);
  return at;
}

function largestOf(scores: Float64Array, from: number, to: number): number {
  let largest = 0;
  for (let i = from; i < to; i++) if (scores[i]! > largest) largest = scores[i]!;
  return largest;
}

/** The smallest impact that is not less than the score. */
function impactOf(score: number, bound: number): number {
  const impact = Math.ceil((score * MOST_IMPACT) / bound);
  return (impact * bound) / MOST_IMPACT < score ? impact + 1 : impact;
}

const rounding = new Float32Array(1);
const roundingBits = new Uint32Array(rounding.buffer);

/** The smallest float32 that is not below a positive number. */
function roundedUp(value: number): number {
  rounding[0] = value;
  if (rounding[0] < value) roundingBits[0]! += 1;
  return rounding[0];
}
