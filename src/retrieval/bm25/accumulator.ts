import { scoreHeap } from "../score-heap.ts";
import { type SearchMemory, searchMemory } from "./search-memory.ts";
import { type KernelMemory } from "./sum-kernel.ts";
import {
  CANDIDATE_SUMS_AT,
  CANDIDATES_AT,
  ENTRY_BYTES,
  ENTRY_NUMBERS,
  FREE_AT,
  MARKS_AT,
  STRETCH,
  STRETCH_SHIFT,
} from "./sum-layout.ts";
import type { SumFloor } from "./sum-floor.ts";

/** A stretch of passages. */
export interface Window {
  /** First passage, and the one behind the last. */
  from: number;
  to: number;
  /** Where distances are counted from: not behind `from`, and at most `WINDOW` before `to`. */
  start: number;
}

/** What is added, and to which passages: to all, or only to those that have a sum already. */
export interface AddOptions {
  weight: number;
  to: "all" | "summed";
}

/** Postings of one block; addresses. */
export interface BlockPart {
  /** Of the first distance (u16) and the first impact (u8). */
  distances: number;
  impacts: number;
  count: number;
  /** What the distances count from. */
  base: number;
}

/** Parts of blocks that may wait to be added. */
const QUEUED_BLOCKS = 64;
const QUEUE_AT = FREE_AT;
const OWN_BYTES = QUEUED_BLOCKS * ENTRY_BYTES;

/** Stretches that are scanned before the floor rises. */
const SCANNED = 16;

function stretchesTo(distance: number): number {
  return Math.ceil(distance / STRETCH);
}

/**
 * The sums of impacts of the passages in one window of a segment, as whole numbers: what a search discards passages by.
 * A search leaves it at 0.
 */
export class Accumulator {
  readonly store: SearchMemory;
  /** For floors of its sums. */
  readonly heap = scoreHeap();
  /** How many passages may still be among the best. */
  candidates = 0;
  private queued = 0;
  private readonly memory: KernelMemory;

  /** @param store for the postings to add. */
  constructor(store = searchMemory(OWN_BYTES)) {
    this.store = store;
    this.memory = store.memory;
  }

  /**
   * Adds whole blocks.
   * @param table addresses of the first one's entry and of the one behind the last; `base` what entries count from.
   */
  addBlocks(
    { table, end, base }: { table: number; end: number; base: number },
    { start }: Window,
    { weight, to }: AddOptions,
  ): void {
    const { kernel } = this.memory;
    if (to === "all") kernel.addAll(table, end, base, start, weight);
    else kernel.addSummed(table, end, base, start, weight);
  }

  /** Queues a part of a block. */
  queue({ distances, impacts, count, base }: BlockPart, window: Window, options: AddOptions): void {
    const entry = (QUEUE_AT >> 2) + ENTRY_NUMBERS * this.queued;
    const { i32 } = this.memory.views;
    i32[entry] = distances;
    i32[entry + 1] = impacts;
    i32[entry + 2] = distances + 2 * count;
    i32[entry + 3] = base;
    this.queued += 1;
    if (this.queued === QUEUED_BLOCKS) this.addQueued(window, options);
  }

  /** Adds postings whose distances are no 16-bit numbers: `from` on among the memory's 32-bit numbers. */
  addWide(
    { from, impacts, count, base }: Omit<BlockPart, "distances"> & { from: number },
    { start }: Window,
    { weight, to }: AddOptions,
  ): void {
    const { u8, u32, i32 } = this.memory.views;
    const shift = base - start;
    for (let i = 0; i < count; i++) {
      const at = u32[from + i]! + shift;
      if (to === "summed" && i32[at] === 0) continue;
      i32[at]! += weight * u8[impacts + i]!;
      u8[MARKS_AT + (at >> STRETCH_SHIFT)] = 1;
    }
  }

  /** Adds what is queued; must follow before other options or another window come. */
  addQueued(window: Window, options: AddOptions): void {
    if (this.queued === 0) return;
    const end = QUEUE_AT + ENTRY_BYTES * this.queued;
    this.queued = 0;
    this.addBlocks({ table: QUEUE_AT, end, base: 0 }, window, options);
  }

  /** Raises a floor by the largest sum of every stretch of passages. */
  raiseByStretches({ to, start }: Window, floor: SumFloor): void {
    const { kernel } = this.memory;
    const end = MARKS_AT + stretchesTo(to - start);
    const out = kernel.largest(MARKS_AT, end, CANDIDATES_AT);
    this.raise(floor, 0, (out - CANDIDATES_AT) >> 2);
  }

  /** Makes the passages whose sum exceeds the floor the candidates; clears the sums. */
  takeCandidates({ to, start }: Window, floor: SumFloor): void {
    const { kernel } = this.memory;
    const end = MARKS_AT + stretchesTo(to - start);
    let count = 0;
    for (let mark = MARKS_AT; mark < end; mark += SCANNED) {
      const stop = Math.min(end, mark + SCANNED);
      const out = kernel.scan(mark, stop, floor.limitSoFar, CANDIDATES_AT + 4 * count);
      const listed = (out - CANDIDATES_AT) >> 2;
      this.raise(floor, count, listed);
      count = listed;
    }
    this.candidates = count;
  }

  private raise(floor: SumFloor, from: number, to: number): void {
    const { i32 } = this.memory.views;
    let { least } = floor;
    for (let i = from; i < to; i++) {
      const sum = i32[(CANDIDATE_SUMS_AT >> 2) + i]!;
      if (sum <= least) continue;
      floor.raise(sum, i32[(CANDIDATES_AT >> 2) + i]!);
      least = floor.least;
    }
  }

  /** The candidates' distances from the window's start and their sums, largest sum first. */
  bestCandidates(): { at: number; sum: number }[] {
    const { i32 } = this.memory.views;
    const list: { at: number; sum: number }[] = [];
    for (let i = 0; i < this.candidates; i++) {
      list.push({ at: i32[(CANDIDATES_AT >> 2) + i]!, sum: i32[(CANDIDATE_SUMS_AT >> 2) + i]! });
    }
    return list.sort((x, y) => y.sum - x.sum);
  }

  /** Adds to the sum of every candidate what its distance from the window's start is worth. */
  addToCandidates(worth: (at: number) => number): void {
    for (let i = 0; i < this.candidates; i++) {
      const more = worth(this.memory.views.i32[(CANDIDATES_AT >> 2) + i]!);
      // Asking may have made the memory grow.
      this.memory.views.i32[(CANDIDATE_SUMS_AT >> 2) + i]! += more;
    }
  }

  /** Gives candidates their sums back, so that more can be added; `takeSums` must follow. */
  putSums(): void {
    const { i32 } = this.memory.views;
    for (let i = 0; i < this.candidates; i++) {
      i32[i32[(CANDIDATES_AT >> 2) + i]!] = i32[(CANDIDATE_SUMS_AT >> 2) + i]!;
    }
  }

  /** Takes the candidates' sums out again. */
  takeSums(): void {
    const { i32 } = this.memory.views;
    for (let i = 0; i < this.candidates; i++) {
      const at = i32[(CANDIDATES_AT >> 2) + i]!;
      i32[(CANDIDATE_SUMS_AT >> 2) + i] = i32[at]!;
      i32[at] = 0;
    }
  }

  /** Drops the candidates whose sum does not exceed a limit. */
  keepAbove(limit: number): void {
    const { i32 } = this.memory.views;
    let kept = 0;
    for (let i = 0; i < this.candidates; i++) {
      const sum = i32[(CANDIDATE_SUMS_AT >> 2) + i]!;
      if (sum <= limit) continue;
      i32[(CANDIDATES_AT >> 2) + kept] = i32[(CANDIDATES_AT >> 2) + i]!;
      i32[(CANDIDATE_SUMS_AT >> 2) + kept] = sum;
      kept += 1;
    }
    this.candidates = kept;
  }

  /** After a search that broke off. */
  clear(): void {
    this.memory.views.u8.fill(0, 0, CANDIDATES_AT);
    this.queued = 0;
  }
}
