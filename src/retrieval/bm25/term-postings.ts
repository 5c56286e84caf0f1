import type { CheckedFile } from "../store/checked-file.ts";
import type { Accumulator, AddOptions, Window } from "./accumulator.ts";
import {
  BLOCK,
  BYTE_FREQUENCIES,
  SKIP_BYTES,
  WIDE_FREQUENCIES,
  WIDE_PASSAGES,
} from "./postings-format.ts";
import { CHUNK_BLOCKS, SkipTable } from "./skip-table.ts";
import {
  type PostingsMemory,
  type Stored,
  ENTRY_BYTES,
  ENTRY_NUMBERS,
  type MemoryViews,
} from "./sum-kernel.ts";

/** Consecutive blocks of one term: a block table in `SumKernel`'s format, then the blocks in disk format. */
interface Chunk {
  readonly stored: Stored;
  /** Bytes of the table; the entries' addresses are relative to its end. */
  readonly tableBytes: number;
  /** Offset of the chunk from the term's first block. */
  readonly start: number;
  /** Whether a block has 32-bit distances; its entry is then unusable. */
  readonly hasWide: boolean;
}

/** Approximate memory of a term besides its stored bytes, and of a chunk. */
const OWN_BYTES = 600;
const CHUNK_OWN_BYTES = 200;

export interface PostingsExtent {
  file: CheckedFile;
  /** A multiple of 8. */
  offset: number;
  /** Number of postings, at least 1. */
  df: number;
}

/** The postings of one term in one segment; blocks are read on demand and kept. */
export class TermPostings {
  readonly skips: SkipTable;
  private readonly extent: PostingsExtent;
  private readonly chunks: (Chunk | undefined)[];
  private readonly memory: PostingsMemory;
  private readonly onLoad: (bytes: number) => void;

  /**
   * @param memory storage of the blocks.
   * @param onLoad receives the number of newly stored bytes.
   */
  constructor(extent: PostingsExtent, memory: PostingsMemory, onLoad: (bytes: number) => void) {
    const { file, offset, df } = extent;
    this.extent = extent;
    this.memory = memory;
    this.onLoad = onLoad;
    const tableBytes = Math.ceil(df / BLOCK) * SKIP_BYTES;
    this.skips = new SkipTable(df, memory.store([file.read(offset, offset + tableBytes)]));
    this.chunks = new Array<Chunk | undefined>(Math.ceil(this.skips.blocks / CHUNK_BLOCKS));
    onLoad(OWN_BYTES + tableBytes);
  }

  stored(): Stored[] {
    const chunks = this.chunks.flatMap((chunk) => (chunk === undefined ? [] : [chunk.stored]));
    return [this.skips.stored, ...chunks];
  }

  /** The first passage of a block that is not below `from`; the block must not end before `from`. */
  nextPassage(block: number, from: number): number {
    const base = this.skips.base(block);
    const i = base >= from ? 0 : this.indexFrom(block, from - base);
    return base + this.distance(block, i);
  }

  /** Unpacks the `size` passages and frequencies of a block. */
  read(block: number, passages: Uint32Array, frequencies: Uint16Array): void {
    const size = this.skips.size(block);
    const base = this.skips.base(block);
    for (let i = 0; i < size; i++) {
      passages[i] = base + this.distance(block, i);
      frequencies[i] = this.frequencyAt(block, i);
    }
  }

  /**
   * Adds `weight` times their impact to the sums of the passages of some blocks inside a window.
   * @param end index after the last block; all blocks must reach into the window.
   */
  addImpacts(
    first: number,
    end: number,
    { accumulator, window, ...options }: AddOptions & { accumulator: Accumulator; window: Window },
  ): void {
    const { from, to } = window;
    for (let block = first; block < end;) {
      const number = Math.floor(block / CHUNK_BLOCKS);
      const stop = Math.min(end, CHUNK_BLOCKS * (number + 1));
      const { stored, tableBytes, hasWide } = this.chunk(number);
      // Only the first and the last block can be partly outside the window.
      const whole = this.skips.base(block) < from ? block + 1 : block;
      const wholeEnd = this.skips.last(stop - 1) >= to ? stop - 1 : stop;
      if (hasWide || whole >= wholeEnd) {
        for (; block < stop; block++) this.addPart(block, { accumulator, window, ...options });
        accumulator.addQueued(window, options);
        continue;
      }
      const entry = (i: number): number => stored.at + ENTRY_BYTES * (i - number * CHUNK_BLOCKS);
      if (block < whole) this.addPart(block, { accumulator, window, ...options });
      if (wholeEnd < stop) this.addPart(wholeEnd, { accumulator, window, ...options });
      accumulator.addQueued(window, options);
      const table = { table: entry(whole), end: entry(wholeEnd), base: stored.at + tableBytes };
      accumulator.addBlocks(table, window, options);
      block = stop;
    }
  }

  /** Queues the part of a block inside the window. */
  private addPart(
    block: number,
    { accumulator, window, ...options }: AddOptions & { accumulator: Accumulator; window: Window },
  ): void {
    const base = this.skips.base(block);
    const begin = base >= window.from ? 0 : this.indexFrom(block, window.from - base);
    const isWhole = this.skips.last(block) < window.to;
    const count =
      (isWhole ? this.skips.size(block) : this.indexFrom(block, window.to - base)) - begin;
    if (count === 0) return;
    const address = this.address(block);
    const impacts = this.impactsAddress(block) + begin;
    if (this.skips.isWide(block)) {
      const from = (address >> 2) + begin;
      accumulator.addWide({ from, impacts, count, base }, window, options);
    } else {
      accumulator.queue({ distances: address + 2 * begin, impacts, count, base }, window, options);
    }
  }

  /** The term's impact in a passage of a block from `seek`; 0 if the passage lacks the term. */
  impact(block: number, passage: number): number {
    const i = this.indexOf(block, passage);
    return i < 0 ? 0 : this.views(block).u8[this.impactsAddress(block) + i]!;
  }

  /** The term's frequency in such a passage. */
  frequency(block: number, passage: number): number {
    const i = this.indexOf(block, passage);
    return i < 0 ? 0 : this.frequencyAt(block, i);
  }

  private indexOf(block: number, passage: number): number {
    const distance = passage - this.skips.base(block);
    const i = this.indexFrom(block, distance);
    return i < this.skips.size(block) && this.distance(block, i) === distance ? i : -1;
  }

  private frequencyAt(block: number, i: number): number {
    const form = this.skips.form(block);
    const at = this.impactsAddress(block) + this.skips.size(block);
    if ((form & BYTE_FREQUENCIES) !== 0) return this.views(block).u8[at + i]!;
    return (form & WIDE_FREQUENCIES) !== 0 ? this.views(block).u16[((at + 1) >> 1) + i]! : 1;
  }

  /** The i-th passage of a block, relative to the block's base. */
  private distance(block: number, i: number): number {
    const address = this.address(block);
    const { u16, u32 } = this.views(block);
    return this.skips.isWide(block) ? u32[(address >> 2) + i]! : u16[(address >> 1) + i]!;
  }

  /** The first posting of a block whose distance is at least a value. */
  private indexFrom(block: number, distance: number): number {
    const address = this.address(block);
    const { u16, u32 } = this.views(block);
    return this.skips.isWide(block)
      ? firstNotBelow(u32, address >> 2, this.skips.size(block), distance)
      : firstNotBelow(u16, address >> 1, this.skips.size(block), distance);
  }

  private views(block: number): MemoryViews {
    return this.chunkOf(block).stored.memory.views;
  }

  /** Addresses of a block's distances and impacts. */
  private address(block: number): number {
    const { stored, tableBytes, start } = this.chunkOf(block);
    return stored.at + tableBytes + this.skips.start(block) - start;
  }

  private impactsAddress(block: number): number {
    return this.address(block) + (this.skips.isWide(block) ? 4 : 2) * this.skips.size(block);
  }

  private chunkOf(block: number): Chunk {
    return this.chunk(Math.floor(block / CHUNK_BLOCKS));
  }

  private chunk(number: number): Chunk {
    return this.chunks[number] ?? this.load(number);
  }

  private load(number: number): Chunk {
    const first = number * CHUNK_BLOCKS;
    const end = Math.min(this.skips.blocks, first + CHUNK_BLOCKS);
    const start = this.skips.start(first);
    const { file, offset } = this.extent;
    const data = offset + this.skips.blocks * SKIP_BYTES;
    const blocks = file.read(data + start, data + this.skips.end(end - 1));
    const { table, hasWide } = this.tableOf(first, end);
    const tableBytes = table.byteLength;
    const stored = this.memory.store([new Uint8Array(table.buffer), blocks]);
    const chunk: Chunk = { stored, tableBytes, start, hasWide };
    this.chunks[number] = chunk;
    this.onLoad(stored.bytes + CHUNK_OWN_BYTES);
    return chunk;
  }

  private tableOf(
    first: number,
    end: number,
  ): { table: Int32Array<ArrayBuffer>; hasWide: boolean } {
    const table = new Int32Array(ENTRY_NUMBERS * (end - first));
    const start = this.skips.start(first);
    let hasWide = false;
    for (let block = first, entry = 0; block < end; block++, entry += ENTRY_NUMBERS) {
      const distances = this.skips.start(block) - start;
      const bytes = 2 * this.skips.size(block);
      table[entry] = distances;
      table[entry + 1] = distances + bytes;
      table[entry + 2] = distances + bytes;
      table[entry + 3] = this.skips.base(block);
      hasWide ||= (this.skips.form(block) & WIDE_PASSAGES) !== 0;
    }
    return { table, hasWide };
  }
}

/** The first of `size` ascending values from `at` on that is not below `value`; `size` when there is none. */
function firstNotBelow(
  values: Uint16Array | Uint32Array,
  at: number,
  size: number,
  value: number,
): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[at + middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
