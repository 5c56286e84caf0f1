import { BLOCK, SKIP_BYTES, WIDE_PASSAGES } from "./postings-format.ts";
import type { Stored } from "./sum-kernel.ts";

/** Blocks per read: up to 56 KiB. */
export const CHUNK_BLOCKS = 64;

/** 32-bit numbers of an entry: last passage, end of the block, bound (a float), form. */
const ENTRY = SKIP_BYTES / 4;

/** A term's skip table in disk format: facts about its blocks before they are read. */
export class SkipTable {
  /** Postings, at least 1. */
  readonly df: number;
  readonly blocks: number;
  /** The largest `termScore` of all: the score of an impact of 255. */
  readonly bound: number;
  readonly stored: Stored;
  /** [chunks] the largest of each, for several chunks. */
  private readonly chunkBounds: Float32Array | null;

  /** @param stored [blocks × SKIP_BYTES] */
  constructor(df: number, stored: Stored) {
    this.df = df;
    this.blocks = Math.ceil(df / BLOCK);
    this.stored = stored;
    const chunks = Math.ceil(this.blocks / CHUNK_BLOCKS);
    this.chunkBounds = chunks > 1 ? new Float32Array(chunks) : null;
    let most = 0;
    for (let block = 0; block < this.blocks; block++) {
      const bound = this.blockBound(block);
      if (bound > most) most = bound;
      if (this.chunkBounds === null) continue;
      const chunk = Math.floor(block / CHUNK_BLOCKS);
      if (bound > this.chunkBounds[chunk]!) this.chunkBounds[chunk] = bound;
    }
    this.bound = most;
  }

  last(block: number): number {
    return this.stored.memory.views.u32[(this.stored.at >> 2) + ENTRY * block]!;
  }

  /** Bytes from the term's first block to the end of a block. */
  end(block: number): number {
    return 8 * this.stored.memory.views.u32[(this.stored.at >> 2) + ENTRY * block + 1]!;
  }

  /** The largest `termScore` of a block. */
  blockBound(block: number): number {
    return this.stored.memory.views.f32[(this.stored.at >> 2) + ENTRY * block + 2]!;
  }

  /** Bits of the format. */
  form(block: number): number {
    return this.stored.memory.views.u32[(this.stored.at >> 2) + ENTRY * block + 3]!;
  }

  size(block: number): number {
    return block < this.blocks - 1 ? BLOCK : this.df - BLOCK * (this.blocks - 1);
  }

  /** The first block, from `block` on, that ends at or after a passage; `blocks` when there is none. */
  seek(block: number, passage: number): number {
    const { blocks } = this;
    // Most steps are short, few are very long.
    let step = 1;
    let low = block;
    while (low + step < blocks && this.last(low + step - 1) < passage) {
      low += step;
      step *= 2;
    }
    return this.seekAmong(low, Math.min(blocks, low + step), passage);
  }

  /** The first block before `end` that ends at or after a passage; `end` when there is none. */
  seekAmong(first: number, end: number, passage: number): number {
    const { u32 } = this.stored.memory.views;
    const lasts = this.stored.at >> 2;
    let low = first;
    let high = end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (u32[lasts + ENTRY * middle]! < passage) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The largest bound of some blocks. */
  boundOf(first: number, end: number): number {
    const { chunkBounds } = this;
    if (first === 0 && end === this.blocks) return this.bound;
    let most = 0;
    for (let block = first; block < end;) {
      const chunk = block / CHUNK_BLOCKS;
      if (chunkBounds !== null && Number.isInteger(chunk) && block + CHUNK_BLOCKS <= end) {
        if (chunkBounds[chunk]! > most) most = chunkBounds[chunk]!;
        block += CHUNK_BLOCKS;
      } else {
        most = Math.max(most, this.blockBound(block));
        block += 1;
      }
    }
    return most;
  }

  /** Whether distances are 32-bit numbers. */
  isWide(block: number): boolean {
    return (this.form(block) & WIDE_PASSAGES) !== 0;
  }

  /** Bytes from the term's first block to a block's start. */
  start(block: number): number {
    return block === 0 ? 0 : this.end(block - 1);
  }

  /** Origin of a block's passages: the last passage of the block before, plus one. */
  base(block: number): number {
    return block === 0 ? 0 : this.last(block - 1) + 1;
  }
}
