import {
  MEMORY_PAGE_BYTES,
  reserveMemory,
  wasmModule,
  webAssembly,
  type WebAssemblyApi,
} from "../../base/wasm.ts";
import { sumsKernel } from "../kernels.ts";
import {
  ENTRY_NUMBERS,
  MARKS_AT,
  type MemoryViews,
  STRETCH,
  STRETCH_SHIFT,
  viewsOf,
  WINDOW,
} from "./sum-layout.ts";

/** The loops (sums.wat). Addresses are in bytes. */
export interface SumKernel {
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

/** Memory of the loops. */
export interface KernelMemory {
  /** `grow` replaces them, so get them before every use. */
  views: MemoryViews;
  readonly kernel: SumKernel;
  /** Grows it to at least this many bytes. */
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
