import type { CheckedFile } from "../store/checked-file.ts";
import {
  BLOCK,
  BYTE_FREQUENCIES,
  SKIP_BYTES,
  WIDE_FREQUENCIES,
  WIDE_PASSAGES,
} from "./postings-format.ts";

/** Blocks that are read from file at once: up to 48 KiB. */
const CHUNK_BLOCKS = 64;

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
  bytes: number;
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
  /** The largest of all. */
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

  /** Unpacks a block: passages and frequencies, as many as `size` says. */
  read(block: number, passages: Uint32Array, frequencies: Uint16Array): void {
    const size = this.size(block);
    const form = this.forms[block]!;
    if (size === 1 && (form | WIDE_PASSAGES) === WIDE_PASSAGES) {
      passages[0] = this.lasts[block]!;
      frequencies[0] = 1;
      return;
    }
    const chunk = this.chunkOf(block);
    const base = this.base(block);
    const at = this.start(block) - chunk.start;
    let end: number;
    if ((form & WIDE_PASSAGES) === 0) {
      copy16(chunk.u16, at >> 1, size, base, passages);
      end = at + 2 * size;
    } else {
      copy32(chunk.u32, at >> 2, size, base, passages);
      end = at + 4 * size;
    }
    if ((form & BYTE_FREQUENCIES) !== 0) copyFrequencies(chunk.u8, end, size, frequencies);
    else if ((form & WIDE_FREQUENCIES) !== 0) {
      copyFrequencies(chunk.u16, end >> 1, size, frequencies);
    } else frequencies.fill(1, 0, size);
  }

  /** How often a passage of a block has the term; 0 if it has not. */
  frequency(block: number, passage: number): number {
    const size = this.size(block);
    const form = this.forms[block]!;
    if (size === 1 && (form | WIDE_PASSAGES) === WIDE_PASSAGES) {
      return passage === this.lasts[block] ? 1 : 0;
    }
    const chunk = this.chunkOf(block);
    const at = this.start(block) - chunk.start;
    const distance = passage - this.base(block);
    const isWide = (form & WIDE_PASSAGES) !== 0;
    const found = isWide
      ? indexOf32(chunk.u32, at >> 2, size, distance)
      : indexOf16(chunk.u16, at >> 1, size, distance);
    if (found < 0) return 0;
    const end = at + (isWide ? 4 : 2) * size;
    if ((form & BYTE_FREQUENCIES) !== 0) return chunk.u8[end + found]!;
    return (form & WIDE_FREQUENCIES) !== 0 ? chunk.u16[(end >> 1) + found]! : 1;
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

function copy16(from: Uint16Array, at: number, size: number, base: number, to: Uint32Array): void {
  for (let i = 0; i < size; i++) to[i] = from[at + i]! + base;
}

function copy32(from: Uint32Array, at: number, size: number, base: number, to: Uint32Array): void {
  for (let i = 0; i < size; i++) to[i] = from[at + i]! + base;
}

function copyFrequencies(
  from: Uint8Array | Uint16Array,
  at: number,
  size: number,
  to: Uint16Array,
): void {
  for (let i = 0; i < size; i++) to[i] = from[at + i]!;
}

/** Index of a value in an ascending stretch; negative if it is not there. */
function indexOf16(values: Uint16Array, at: number, size: number, value: number): number {
  let low = 0;
  let high = size - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[at + middle]! < value) low = middle + 1;
    else high = middle;
  }
  return values[at + low] === value ? low : -1;
}

function indexOf32(values: Uint32Array, at: number, size: number, value: number): number {
  let low = 0;
  let high = size - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[at + middle]! < value) low = middle + 1;
    else high = middle;
  }
  return values[at + low] === value ? low : -1;
}
