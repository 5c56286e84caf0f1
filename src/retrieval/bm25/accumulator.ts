import { scoreHeap, type ScoreHeap } from "../top-k.ts";
import {
  searchMemory,
  CANDIDATE_SUMS_AT,
  CANDIDATES_AT,
  ENTRY_BYTES,
  ENTRY_NUMBERS,
  FREE_AT,
  MARKS_AT,
  STRETCH,
  STRETCH_SHIFT,
  type SearchMemory,
  type KernelMemory,
} from "./sum-kernel.ts";

export interface Window {
  /** First passage, and the index after the last. */
  from: number;
  to: number;
  /** Origin of distances: not after `from`, and at most `WINDOW` before `to`. */
  start: number;
}

/** The factor, and the target: all passages, or only those that already have a sum. */
export interface AddOptions {
  weight: number;
  to: "all" | "summed";
}

interface BlockPart {
  /** Of the first distance (u16) and the first impact (u8). */
  distances: number;
  impacts: number;
  count: number;
  /** Origin of the distances. */
  base: number;
}

/** Maximum number of queued parts of blocks. */
const QUEUED_BLOCKS = 64;
const QUEUE_AT = FREE_AT;
const OWN_BYTES = QUEUED_BLOCKS * ENTRY_BYTES;

/** Stretches scanned before the floor is updated. */
const SCANNED = 16;

function stretchesTo(distance: number): number {
  return Math.ceil(distance / STRETCH);
}

/**
 * Integer sums of impacts of the passages in one window of a segment, by which a search discards passages.
 * A search must reset it to 0.
 */
export class Accumulator {
  readonly store: SearchMemory;
  /** For floors of its sums. */
  readonly heap = scoreHeap();
  /** Number of passages that may still be among the best. */
  candidates = 0;
  private queued = 0;
  private readonly memory: KernelMemory;

  /** @param store memory of the postings. */
  constructor(store = searchMemory(OWN_BYTES)) {
    this.store = store;
    this.memory = store.memory;
  }

  /**
   * Adds whole blocks.
   * @param table addresses of the first entry and of the end; `base` is the origin of the entries' addresses.
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

  /** Adds postings with 32-bit distances, which start at index `from` of the memory's 32-bit view. */
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

  /** Adds the queued parts; required before the options or the window change. */
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

  /** Makes the passages whose sum exceeds the floor the candidates; resets the sums. */
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
    for (let i = 0; i < this.candidates; i++)
      list.push({ at: i32[(CANDIDATES_AT >> 2) + i]!, sum: i32[(CANDIDATE_SUMS_AT >> 2) + i]! });
    return list.sort((x, y) => y.sum - x.sum);
  }

  /** Adds a value to each candidate's sum, by its distance from the window's start. */
  addToCandidates(worth: (at: number) => number): void {
    for (let i = 0; i < this.candidates; i++) {
      const more = worth(this.memory.views.i32[(CANDIDATES_AT >> 2) + i]!);
      // `worth` may have grown the memory.
      this.memory.views.i32[(CANDIDATE_SUMS_AT >> 2) + i]! += more;
    }
  }

  /** Writes the candidates' sums back, so that more can be added; `takeSums` must follow. */
  putSums(): void {
    const { i32 } = this.memory.views;
    for (let i = 0; i < this.candidates; i++)
      i32[i32[(CANDIDATES_AT >> 2) + i]!] = i32[(CANDIDATE_SUMS_AT >> 2) + i]!;
  }

  /** Reads the candidates' sums again. */
  takeSums(): void {
    const { i32 } = this.memory.views;
    for (let i = 0; i < this.candidates; i++) {
      const at = i32[(CANDIDATES_AT >> 2) + i]!;
      i32[(CANDIDATE_SUMS_AT >> 2) + i] = i32[at]!;
      i32[at] = 0;
    }
  }

  /** Drops candidates with a sum up to a limit. */
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

  /** Resets after a failed search. */
  clear(): void {
    this.memory.views.u8.fill(0, 0, CANDIDATES_AT);
    this.queued = 0;
  }
}

interface SumFloorOptions {
  /** Working memory, emptied first: of several floors over one heap only the latest is usable. */
  heap: ScoreHeap;
  k: number;
  /** Initial limit for sums of all terms. */
  limit: number;
  /** Maximum contribution of the terms that are not yet in the sums. */
  rest: number;
  /** Lower bound of the true share of a sum, after the excess of the sums so far is subtracted. */
  certain: number;
  excess: number;
  /** Whether the passage of a sum counts; deleted passages do not. */
  counts: (at: number) => boolean;
}

/** Tracks the k-th largest sum: passages far enough below it are discarded. */
export interface SumFloor {
  /** Sums of all terms must exceed it. */
  readonly limit: number;
  /** Sums so far must exceed it; not below 0. */
  readonly limitSoFar: number;
  /** Sums up to it change nothing. */
  readonly least: number;
  /** @param at distance of the sum's passage from the window's start; every passage once. */
  raise(sum: number, at: number): void;
}

/** A floor that rises, for integers. */
export function sumFloor(options: SumFloorOptions): SumFloor {
  const { heap, k, limit, rest, certain, excess, counts } = options;
  heap.clear();
  let current = limit;
  return {
    get limit() {
      return current;
    },
    get limitSoFar() {
      return Math.max(0, current - rest);
    },
    get least() {
      return heap.size < k ? 0 : heap.top();
    },
    raise(sum, at) {
      if (!counts(at)) return;
      if (heap.size < k) heap.push(sum, at);
      else if (sum > heap.top()) heap.replaceTop(sum, at);
      else return;
      if (heap.size === k) current = Math.max(current, Math.floor(heap.top() * certain - excess));
    },
  };
}
