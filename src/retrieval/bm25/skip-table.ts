import { BLOCK, SKIP_BYTES, WIDE_PASSAGES } from "./postings-format.ts";

/** Blocks that are read from file together: up to 56 KiB. */
export const CHUNK_BLOCKS = 64;

/** What is known of a term's blocks before they are read. */
export class SkipTable {
  /** Postings, at least 1. */
  readonly df: number;
  readonly blocks: number;
  /** [blocks] last passage of each. */
  readonly lasts: Uint32Array;
  /** [blocks] end of each, from the first one's beginning, in units of 8 bytes. */
  readonly ends: Uint32Array;
  /** [blocks] largest `termScore` of each. */
  readonly bounds: Float32Array;
  /** [blocks] bits, as the format has them. */
  readonly forms: Uint8Array;
  /** [chunks] as `bounds`. */
  private readonly chunkBounds: Float32Array;
  /** The largest of all: what an impact of 255 stands for. */
  readonly bound: number;

  /** @param bytes [blocks × SKIP_BYTES] */
  constructor(df: number, bytes: Uint8Array) {
    const blocks = Math.ceil(df / BLOCK);
    const skip = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.df = df;
    this.blocks = blocks;
    this.lasts = new Uint32Array(blocks);
    this.ends = new Uint32Array(blocks);
    this.bounds = new Float32Array(blocks);
    this.forms = new Uint8Array(blocks);
    this.chunkBounds = new Float32Array(Math.ceil(blocks / CHUNK_BLOCKS));
    for (let i = 0, at = 0; i < blocks; i++, at += SKIP_BYTES) {
      this.lasts[i] = skip.getUint32(at, true);
      this.ends[i] = skip.getUint32(at + 4, true);
      this.bounds[i] = skip.getFloat32(at + 8, true);
      this.forms[i] = skip.getUint32(at + 12, true);
      const chunk = Math.floor(i / CHUNK_BLOCKS);
      this.chunkBounds[chunk] = Math.max(this.chunkBounds[chunk]!, this.bounds[i]!);
    }
    this.bound = this.chunkBounds.reduce((most, bound) => Math.max(most, bound), 0);
  }

  /** Postings of a block. */
  size(block: number): number {
    return block < this.blocks - 1 ? BLOCK : this.df - BLOCK * (this.blocks - 1);
  }

  /** The first block, from `block` on, that does not end before a passage; `blocks` when all do. */
  seek(block: number, passage: number): number {
    const { lasts, blocks } = this;
    // Most steps are short, few are very long.
    let step = 1;
    let low = block;
    while (low + step < blocks && lasts[low + step - 1]! < passage) {
      low += step;
      step *= 2;
    }
    return this.seekAmong(low, Math.min(blocks, low + step), passage);
  }

  /** The first block of some, `end` behind the last of them, that does not end before a passage; `end` when all do. */
  seekAmong(first: number, end: number, passage: number): number {
    const { lasts } = this;
    let low = first;
    let high = end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lasts[middle]! < passage) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The largest bound of some blocks. */
  boundOf(first: number, end: number): number {
    const { bounds, chunkBounds } = this;
    let most = 0;
    for (let block = first; block < end;) {
      const chunk = block / CHUNK_BLOCKS;
      if (Number.isInteger(chunk) && block + CHUNK_BLOCKS <= end) {
        if (chunkBounds[chunk]! > most) most = chunkBounds[chunk]!;
        block += CHUNK_BLOCKS;
      } else {
        if (bounds[block]! > most) most = bounds[block]!;
        block += 1;
      }
    }
    return most;
  }

  /** Whether distances are 32-bit numbers. */
  isWide(block: number): boolean {
    return (this.forms[block]! & WIDE_PASSAGES) !== 0;
  }

  /** Bytes from the term's first block to a block's beginning. */
  start(block: number): number {
    return block === 0 ? 0 : 8 * this.ends[block - 1]!;
  }

  /** Where a block's passages begin: the one behind the last of the block before. */
  base(block: number): number {
    return block === 0 ? 0 : this.lasts[block - 1]! + 1;
  }
}
