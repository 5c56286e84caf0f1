/**
 * A term's postings as bytes: passages ascending, cut into blocks of 128.
 *
 *   skip table   [blocks] × 16 bytes: last passage u32 · end of the block's data u32, in units of 8 bytes from the
 *                first block · bound f32 · form u32
 *   blocks       passages as distances from the block before's last + 1 (u16, or u32 where one is ≥ 65 536), then
 *                frequencies (nothing where all are 1, u8, or u16), padded to 8 bytes
 *
 * All little-endian; a term begins at a multiple of 8. A block of one passage with frequency 1 has no data at all. The
 * bound is the largest `termScore` of the block under the mean length of the time of writing, rounded up: with it whole
 * blocks are skipped. Nothing is packed tighter than bytes: a posting is read where it lies, without unpacking its block.
 */
import type { FileWriter } from "../store/file-writer.ts";
import { type Bm25Tables, termScore } from "./formula.ts";

/** Postings per block; the last block of a term may have fewer. */
export const BLOCK = 128;

/** Bytes per entry of the skip table. */
export const SKIP_BYTES = 16;

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

/**
 * @param lengths [N] terms per passage.
 * @param tables of the corpus as it will be.
 */
export function postingsWriter(
  out: Pick<FileWriter, "append">,
  lengths: Uint32Array,
  tables: Bm25Tables,
): PostingsWriter {
  let data = new DataView(new ArrayBuffer(1 << 16));
  return {
    append(passages, frequencies, count) {
      const blocks = Math.ceil(count / BLOCK);
      const most = blocks * (SKIP_BYTES + BLOCK * 6 + 8);
      if (data.byteLength < most) data = new DataView(new ArrayBuffer(2 * most));
      const first = blocks * SKIP_BYTES;
      let at = first;
      let base = 0;
      for (let block = 0; block < blocks; block++) {
        const from = block * BLOCK;
        const to = Math.min(count, from + BLOCK);
        const last = passages[to - 1]!;
        const form = formOf(passages, frequencies, { from, to, base });
        at = writeBlock(data, at, { passages, frequencies, from, to, base, form });
        const skip = block * SKIP_BYTES;
        data.setUint32(skip, last, true);
        data.setUint32(skip + 4, (at - first) / 8, true);
        data.setFloat32(
          skip + 8,
          roundedUp(boundOf({ passages, frequencies, from, to }, lengths, tables)),
          true,
        );
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
  from: number;
  to: number;
}

function formOf(
  passages: Uint32Array,
  frequencies: Uint16Array,
  { from, to, base }: { from: number; to: number; base: number },
): number {
  let most = 1;
  for (let i = from; i < to; i++) if (frequencies[i]! > most) most = frequencies[i]!;
  const width = most === 1 ? 0 : most < 256 ? BYTE_FREQUENCIES : WIDE_FREQUENCIES;
  return width | (passages[to - 1]! - base >= 1 << 16 ? WIDE_PASSAGES : 0);
}

/** @returns where the block ends. */
function writeBlock(
  data: DataView,
  start: number,
  { passages, frequencies, from, to, base, form }: Range & { base: number; form: number },
): number {
  if (to - from === 1 && (form | WIDE_PASSAGES) === WIDE_PASSAGES) return start;
  let at = start;
  if ((form & WIDE_PASSAGES) !== 0) {
    for (let i = from; i < to; i++, at += 4) data.setUint32(at, passages[i]! - base, true);
  } else {
    for (let i = from; i < to; i++, at += 2) data.setUint16(at, passages[i]! - base, true);
  }
  if ((form & BYTE_FREQUENCIES) !== 0) {
    for (let i = from; i < to; i++, at++) data.setUint8(at, frequencies[i]!);
  } else if ((form & WIDE_FREQUENCIES) !== 0) {
    for (let i = from; i < to; i++, at += 2) data.setUint16(at, frequencies[i]!, true);
  }
  while (at % 8 !== 0) data.setUint8(at++, 0);
  return at;
}

function boundOf(
  { passages, frequencies, from, to }: Range,
  lengths: Uint32Array,
  tables: Bm25Tables,
): number {
  let most = 0;
  for (let i = from; i < to; i++) {
    const score = termScore(frequencies[i]!, lengths[passages[i]!]!, tables);
    if (score > most) most = score;
  }
  return most;
}

const rounding = new Float32Array(1);
const roundingBits = new Uint32Array(rounding.buffer);

/** The smallest float32 that is not below a positive number. */
function roundedUp(value: number): number {
  rounding[0] = value;
  if (rounding[0] < value) roundingBits[0]! += 1;
  return rounding[0];
}
