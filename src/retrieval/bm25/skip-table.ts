import { BLOCK, SKIP_BYTES, WIDE_PASSAGES } from "./postings-format.ts";
import type { Stored } from "./search-memory.ts";

/** Blocks that are read from file together: up to 56 KiB. */
export const CHUNK_BLOCKS = 64;

/** 32-bit numbers of an entry: last passage, end of the block, bound (a float), form. */
const ENTRY = SKIP_BYTES / 4;

/** What is known of a term's blocks before they are read: its skip table, as it lies on disk. */
export class SkipTable {
  /** Postings, at least 1. */
  readonly df: number;
  readonly blocks: number;
  /** The largest `termScore` of all: what an impact of 255 stands for. */
  readonly bound: number;
  readonly stored: Stored;
  /** [chunks] the largest of each, where there are several. */
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

  /** Last passage of a block. */
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

  /** Bits, as the format has them. */
  form(block: number): number {
    return this.stored.memory.views.u32[(this.stored.at >> 2) + ENTRY * block + 3]!;
  }

  /** Postings of a block. */
  size(block: number): number {
    return block < this.blocks - 1 ? BLOCK : this.df - BLOCK * (this.blocks - 1);
  }

  /** The first block, from `block` on, that does not end before a passage; `blocks` when all do. */
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

  /** The first block of some, `end` behind the last of them, that does not end before a passage; `end` when all do. */
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

  /** Bytes from the term's first block to a block's beginning. */
  start(block: number): number {
    return block === 0 ? 0 : this.end(block - 1);
  }

  /** Where a block's passages begin: the one behind the last of the block before. */
  base(block: number): number {
    return block === 0 ? 0 : this.last(block - 1) + 1;
  }
}
