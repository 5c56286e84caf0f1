import type { CheckedFile } from "../store/checked-file.ts";
import {
  addQueued,
  narrowDistance,
  queuePostings,
  stageBlocks,
  STAGED_BLOCKS,
  type Window,
} from "./accumulator.ts";
import {
  BLOCK,
  BYTE_FREQUENCIES,
  SKIP_BYTES,
  WIDE_FREQUENCIES,
  WIDE_PASSAGES,
} from "./postings-format.ts";

/** Blocks that are read from file at once: up to 56 KiB. */
const CHUNK_BLOCKS = STAGED_BLOCKS;

/** What is added, and to which passages. */
export interface AddOptions {
  weight: number;
  to: "all" | "summed";
}

/** Consecutive blocks of one term, as they lie on disk. */
interface Chunk {
  /** Byte, from the term's first block, at which the chunk begins. */
  readonly start: number;
  readonly u8: Uint8Array;
  readonly u16: Uint16Array;
  readonly u32: Uint32Array;
}

/** Where a term's postings lie in their file. */
export interface PostingsExtent {
  file: CheckedFile;
  /** A multiple of 8. */
  offset: number;
  /** Postings, at least 1. */
  df: number;
}

/** The postings of one term in one segment; its blocks are read when they are asked for and kept. */
export class TermPostings {
  readonly df: number;
  readonly blocks: number;
  /** [blocks] last passage of each. */
  readonly lasts: Uint32Array;
  /** [blocks] largest `termScore` of each. */
  readonly bounds: Float32Array;
  /** The largest of all: what an impact of 255 stands for. */
  readonly bound: number;
  private readonly extent: PostingsExtent;
  /** [blocks] end of each in units of 8 bytes, and its form. */
  private readonly ends: Uint32Array;
  private readonly forms: Uint8Array;
  private readonly chunks: (Chunk | undefined)[];
  private readonly onLoad: (bytes: number) => void;

  /** @param onLoad is told of every byte that is kept. */
  constructor(extent: PostingsExtent, onLoad: (bytes: number) => void) {
    const { file, offset, df } = extent;
    this.extent = extent;
    this.onLoad = onLoad;
    this.df = df;
    this.blocks = Math.ceil(df / BLOCK);
    const { blocks } = this;
    const bytes = file.read(offset, offset + blocks * SKIP_BYTES);
    const skip = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.lasts = new Uint32Array(blocks);
    this.ends = new Uint32Array(blocks);
    this.bounds = new Float32Array(blocks);
    this.forms = new Uint8Array(blocks);
    this.chunks = new Array<Chunk | undefined>(Math.ceil(blocks / CHUNK_BLOCKS));
    let bound = 0;
    for (let i = 0, at = 0; i < blocks; i++, at += SKIP_BYTES) {
      this.lasts[i] = skip.getUint32(at, true);
      this.ends[i] = skip.getUint32(at + 4, true);
      this.bounds[i] = skip.getFloat32(at + 8, true);
      this.forms[i] = skip.getUint32(at + 12, true);
      if (this.bounds[i]! > bound) bound = this.bounds[i]!;
    }
    this.bound = bound;
    onLoad(400 + 13 * blocks);
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
    let high = Math.min(blocks, low + step);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lasts[middle]! < passage) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first passage of a block that is not below `from`; the block must not end before it. */
  nextPassage(block: number, from: number): number {
    const chunk = this.chunkOf(block);
    const { isWide, at, size } = this.placeOf(block, chunk);
    const base = this.base(block);
    if (base >= from) return base + (isWide ? chunk.u32[at >> 2]! : chunk.u16[at >> 1]!);
    const i = isWide
      ? firstNotBelow(chunk.u32, at >> 2, size, from - base)
      : firstNotBelow(chunk.u16, at >> 1, size, from - base);
    return base + (isWide ? chunk.u32[(at >> 2) + i]! : chunk.u16[(at >> 1) + i]!);
  }

  /** Unpacks a block: passages and frequencies, as many as `size` says. */
  read(block: number, passages: Uint32Array, frequencies: Uint16Array): void {
    const chunk = this.chunkOf(block);
    const place = this.placeOf(block, chunk);
    const { isWide, at, size } = place;
    const base = this.base(block);
    for (let i = 0; i < size; i++) {
      passages[i] = base + (isWide ? chunk.u32[(at >> 2) + i]! : chunk.u16[(at >> 1) + i]!);
      frequencies[i] = this.frequencyAt(block, i, place, chunk);
    }
  }

  /**
   * Adds `weight` times their impact to the sums of the passages of some blocks that lie in a window.
   * @param end the block behind the last; all of them must reach into the window.
   */
  addImpacts(first: number, end: number, window: Window, { weight, to }: AddOptions): void {
    for (let block = first; block < end;) {
      const chunk = this.chunkOf(block);
      const stop = Math.min(end, CHUNK_BLOCKS * (Math.floor(block / CHUNK_BLOCKS) + 1));
      const begin = this.start(block) - chunk.start;
      stageBlocks(chunk.u8.subarray(begin, 8 * this.ends[stop - 1]! - chunk.start));
      for (; block < stop; block++) this.queue(block, chunk, begin, window);
      addQueued(weight, to);
    }
  }

  /** @param staged offset in the chunk of what was staged of it. */
  private queue(block: number, chunk: Chunk, staged: number, { from, to, start }: Window): void {
    const { isWide, at, size, impacts } = this.placeOf(block, chunk);
    const base = this.base(block);
    const shift = base - start;
    const values = isWide ? chunk.u32 : chunk.u16;
    const place = isWide ? at >> 2 : at >> 1;
    const isWhole = base >= from && this.lasts[block]! < to;
    const begin = isWhole ? 0 : firstNotBelow(values, place, size, from - base);
    const end = isWhole ? size : firstNotBelow(values, place, size, to - base);
    if (begin === end) return;
    const first = values[place + begin]! + shift;
    const last = values[place + end - 1]! + shift;
    if (isWide) {
      for (let i = begin; i < end; i++) narrowDistance(i - begin, values[place + i]! + shift);
    }
    queuePostings(
      {
        distances: at + 2 * begin - staged,
        impacts: impacts + begin - staged,
        count: end - begin,
      },
      { first, last },
      isWide ? null : shift,
    );
  }

  /** The impact of the term in a passage that `seek` found the block of; 0 if the passage has not the term. */
  impact(block: number, passage: number): number {
    const chunk = this.chunkOf(block);
    const place = this.placeOf(block, chunk);
    const i = this.indexOf(block, passage, place, chunk);
    return i < 0 ? 0 : chunk.u8[place.impacts + i]!;
  }

  /** How often such a passage has the term. */
  frequency(block: number, passage: number): number {
    const chunk = this.chunkOf(block);
    const place = this.placeOf(block, chunk);
    const i = this.indexOf(block, passage, place, chunk);
    return i < 0 ? 0 : this.frequencyAt(block, i, place, chunk);
  }

  private indexOf(
    block: number,
    passage: number,
    { isWide, at, size }: Place,
    chunk: Chunk,
  ): number {
    const distance = passage - this.base(block);
    const i = isWide
      ? firstNotBelow(chunk.u32, at >> 2, size, distance)
      : firstNotBelow(chunk.u16, at >> 1, size, distance);
    if (i === size) return -1;
    return (isWide ? chunk.u32[(at >> 2) + i] : chunk.u16[(at >> 1) + i]) === distance ? i : -1;
  }

  private frequencyAt(
    block: number,
    i: number,
    { impacts, size }: Place,
    { u8, u16 }: Chunk,
  ): number {
    const form = this.forms[block]!;
    const at = impacts + size;
    if ((form & BYTE_FREQUENCIES) !== 0) return u8[at + i]!;
    return (form & WIDE_FREQUENCIES) !== 0 ? u16[((at + 1) >> 1) + i]! : 1;
  }

  private placeOf(block: number, chunk: Chunk): Place {
    const at = this.start(block) - chunk.start;
    const size = this.size(block);
    const isWide = (this.forms[block]! & WIDE_PASSAGES) !== 0;
    return { at, size, isWide, impacts: at + (isWide ? 4 : 2) * size };
  }

  /** Bytes from the term's first block to a block's beginning. */
  private start(block: number): number {
    return block === 0 ? 0 : 8 * this.ends[block - 1]!;
  }

  private base(block: number): number {
    return block === 0 ? 0 : this.lasts[block - 1]! + 1;
  }

  private chunkOf(block: number): Chunk {
    const number = Math.floor(block / CHUNK_BLOCKS);
    return this.chunks[number] ?? this.load(number);
  }

  private load(number: number): Chunk {
    const first = number * CHUNK_BLOCKS;
    const start = this.start(first);
    const end = 8 * this.ends[Math.min(this.blocks, first + CHUNK_BLOCKS) - 1]!;
    const { file, offset } = this.extent;
    const data = offset + this.blocks * SKIP_BYTES;
    const { buffer, byteOffset, length } = file.read(data + start, data + end);
    const chunk: Chunk = {
      start,
      u8: new Uint8Array(buffer, byteOffset, length),
      u16: new Uint16Array(buffer, byteOffset, length / 2),
      u32: new Uint32Array(buffer, byteOffset, length / 4),
    };
    this.chunks[number] = chunk;
    this.onLoad(length + 4096);
    return chunk;
  }
}

/** Where a block lies in its chunk. */
interface Place {
  /** Byte of its first passage, and of its first impact. */
  at: number;
  impacts: number;
  /** Postings. */
  size: number;
  isWide: boolean;
}

/** The first of `size` ascending values from `at` on that is not below `value`; `size` when all are. */
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
