import {
  MEMORY_PAGE_BYTES,
  reserveMemory,
  wasmModule,
  webAssembly,
  type WebAssemblyApi,
} from "../../base/wasm.ts";
import { sumsKernel } from "../kernels.ts";

/** Memory layout of the accumulator. sums.wat repeats these numbers. */

/** Passages per window: each has a sum, an i32; the sums start at address 0. */
export const WINDOW = 1 << 18;

/** Passages share one mark byte per stretch: 1 when one of them may have a sum. */
export const STRETCH_SHIFT = 9;
export const STRETCH = 1 << STRETCH_SHIFT;

/** Addresses: marks; candidates' distances from the window's start, and their sums; the rest is free. */
export const MARKS_AT = 4 * WINDOW;
export const CANDIDATES_AT = MARKS_AT + WINDOW / STRETCH;
export const CANDIDATE_SUMS_AT = CANDIDATES_AT + 4 * WINDOW;
export const FREE_AT = CANDIDATE_SUMS_AT + 4 * WINDOW;

/**
 * Numbers per entry in a table of blocks (i32): addresses of its distances (u16), of its impacts (u8), and of the
 * end of its distances, all relative to a base address; and the passage that the distances are relative to.
 */
export const ENTRY_NUMBERS = 4;
export const ENTRY_BYTES = 4 * ENTRY_NUMBERS;

/** The memory's content, by element type. */
export interface MemoryViews {
  u8: Uint8Array<ArrayBuffer>;
  u16: Uint16Array<ArrayBuffer>;
  u32: Uint32Array<ArrayBuffer>;
  i32: Int32Array<ArrayBuffer>;
  f32: Float32Array<ArrayBuffer>;
}

function viewsOf(buffer: ArrayBuffer): MemoryViews {
  return {
    u8: new Uint8Array(buffer),
    u16: new Uint16Array(buffer),
    u32: new Uint32Array(buffer),
    i32: new Int32Array(buffer),
    f32: new Float32Array(buffer),
  };
}

/** The loops (sums.wat). Addresses are in bytes. */
interface SumKernel {
  /**
   * Adds `weight` times each impact of some blocks to the sums of their passages, and sets their marks.
   *
   * @param table address of the first block's entry; `end` is the address after the last entry. At least one block, each with at
   *   least one posting, all inside the window.
   * @param base that the entries' addresses are relative to.
   * @param start the window's first passage.
   */
  addAll: (table: number, end: number, base: number, start: number, weight: number) => void;
  /** The same, but only for passages that already have a sum. */
  addSummed: (table: number, end: number, base: number, start: number, weight: number) => void;
  /**
   * Lists the largest sum of each marked stretch, as candidates whose distance is that of the stretch.
   *
   * @param mark address of the first stretch's mark; `end` is the address after the last one's.
   * @param out address of the next list entry.
   * @returns the new address of the next list entry.
   */
  largest: (mark: number, end: number, out: number) => number;
  /**
   * Lists the sums above a limit in marked stretches as candidates; resets all sums and marks to 0.
   * Parameters and result as for `largest`.
   */
  scan: (mark: number, end: number, limit: number, out: number) => number;
}

export interface KernelMemory {
  /** `grow` replaces them, so get them before every use. */
  views: MemoryViews;
  readonly kernel: SumKernel;
  grow(bytes: number): void;
}

/** @param api null runs the loops in JavaScript, as does missing WebAssembly memory. */
export function kernelMemory(
  bytes: number,
  api: WebAssemblyApi | null = webAssembly ?? null,
): KernelMemory {
  const memory = api === null ? null : reserveMemory(api, pages(bytes));
  if (api === null || memory === null) return plainMemory(bytes);
  const { exports } = new api.Instance(wasmModule(api, sumsKernel), { env: { memory } });
  return {
    kernel: exports as unknown as SumKernel,
    views: viewsOf(memory.buffer),
    grow(needed) {
      if (needed <= this.views.u8.length) return;
      memory.grow(pages(needed) - pages(this.views.u8.length));
      this.views = viewsOf(memory.buffer);
    },
  };
}

/** The JavaScript version: reference for the module, and fallback without WebAssembly. */
function plainMemory(bytes: number): KernelMemory {
  const memory: KernelMemory = {
    kernel: plainSums(() => memory.views),
    views: viewsOf(new ArrayBuffer(pages(bytes) * MEMORY_PAGE_BYTES)),
    grow(needed) {
      if (needed <= memory.views.u8.length) return;
      const larger = viewsOf(new ArrayBuffer(pages(needed) * MEMORY_PAGE_BYTES));
      larger.u8.set(memory.views.u8);
      memory.views = larger;
    },
  };
  return memory;
}

function pages(bytes: number): number {
  return Math.ceil(bytes / MEMORY_PAGE_BYTES);
}

function plainSums(views: () => MemoryViews): SumKernel {
  const add =
    (onlySummed: boolean): SumKernel["addAll"] =>
    (table, end, base, start, weight) => {
      const { u8, u16, i32: numbers } = views();
      for (let entry = table >> 2; entry < end >> 2; entry += ENTRY_NUMBERS) {
        const from = (base + numbers[entry]!) >> 1;
        const to = (base + numbers[entry + 2]!) >> 1;
        const impacts = base + numbers[entry + 1]!;
        const shift = numbers[entry + 3]! - start;
        for (let i = from; i < to; i++) {
          const sum = u16[i]! + shift;
          if (onlySummed && numbers[sum] === 0) continue;
          numbers[sum]! += Math.imul(u8[impacts + i - from]!, weight);
          if (!onlySummed) u8[MARKS_AT + (sum >> STRETCH_SHIFT)] = 1;
        }
      }
    };
  return {
    addAll: add(false),
    addSummed: add(true),
    largest(mark, end, out) {
      const { u8, i32: numbers } = views();
      let next = out >> 2;
      for (let at = mark; at < end; at++) {
        if (u8[at] === 0) continue;
        const first = (at - MARKS_AT) * STRETCH;
        numbers[next] = first;
        numbers[next + WINDOW] = numbers
          .subarray(first, first + STRETCH)
          .reduce((most, sum) => Math.max(most, sum), 0);
        next += 1;
      }
      return 4 * next;
    },
    scan(mark, end, limit, out) {
      const { u8, i32: numbers } = views();
      let next = out >> 2;
      for (let at = mark; at < end; at++) {
        if (u8[at] === 0) continue;
        u8[at] = 0;
        const first = (at - MARKS_AT) * STRETCH;
        for (let sum = first; sum < first + STRETCH; sum++) {
          const value = numbers[sum]!;
          numbers[sum] = 0;
          if (value <= limit) continue;
          numbers[next] = sum;
          numbers[next + WINDOW] = value;
          next += 1;
        }
      }
      return 4 * next;
    },
  };
}

/** Bytes in memory; `keep` may move them. */
export interface Stored {
  /** Address, a multiple of 8. */
  at: number;
  readonly bytes: number;
  readonly memory: { readonly views: MemoryViews };
}

export interface PostingsMemory {
  /** Copies pieces consecutively; each except the last must be a multiple of 8 bytes. */
  store(pieces: readonly Uint8Array[]): Stored;
}

/** The memory of a search's loops and of the postings, which are added in place. */
export interface SearchMemory extends PostingsMemory {
  readonly memory: KernelMemory;
  /** Discards everything except these, which move together. */
  keep(stored: readonly Stored[]): void;
}

const STEP_BYTES = 1 << 22;

/** @param ownBytes of the memory, from `FREE_AT` on, without postings. */
export function searchMemory(ownBytes: number, memory = kernelMemory(FREE_AT)): SearchMemory {
  const first = FREE_AT + multipleOf8(ownBytes);
  memory.grow(first);
  let end = first;
  return {
    memory,
    store(pieces) {
      const bytes = sizeOf(pieces);
      if (end + bytes > memory.views.u8.length) memory.grow(end + bytes + STEP_BYTES);
      const at = end;
      end += bytes;
      copy(pieces, memory.views.u8, at);
      return { at, bytes, memory };
    },
    keep(stored) {
      end = first;
      for (const each of [...stored].sort((a, b) => a.at - b.at)) {
        memory.views.u8.copyWithin(end, each.at, each.at + each.bytes);
        each.at = end;
        end += each.bytes;
      }
    },
  };
}

/** A separate buffer per request: for postings that are read but not searched. */
export const separateMemory: PostingsMemory = {
  store(pieces) {
    const bytes = sizeOf(pieces);
    const views = viewsOf(new ArrayBuffer(bytes));
    copy(pieces, views.u8, 0);
    return { at: 0, bytes, memory: { views } };
  },
};

function sizeOf(pieces: readonly Uint8Array[]): number {
  return multipleOf8(pieces.reduce((sum, piece) => sum + piece.length, 0));
}

function copy(pieces: readonly Uint8Array[], to: Uint8Array, at: number): void {
  let place = at;
  for (const piece of pieces) {
    to.set(piece, place);
    place += piece.length;
  }
}

function multipleOf8(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
