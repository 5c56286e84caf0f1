/**
 * The sums of impacts of the passages in one window of a segment, as whole numbers: what a search discards passages by.
 * One buffer for all searches of a thread: a search is synchronous, and leaves it at 0.
 */

import { BLOCK, MOST_BLOCK_BYTES } from "./postings-format.ts";
import { sumKernel, TABLE_NUMBERS } from "./sum-kernel.ts";

/** Passages of a window; distances from its start are 16-bit numbers. */
export const WINDOW = 1 << 16;

/** A stretch of passages. */
export interface Window {
  /** First passage, and the one behind the last. */
  from: number;
  to: number;
  /** Where distances are counted from: not behind `from`, and less than 65 536 before `to`. */
  start: number;
}

/** Postings that are added at once: staged as the bytes of whole blocks, at most `STAGED_BLOCKS` of them. */
export const STAGED_BLOCKS = 64;
const STAGED_BYTES = STAGED_BLOCKS * MOST_BLOCK_BYTES;
const NARROWED_BYTES = STAGED_BLOCKS * BLOCK * 2;
const TABLE_BYTES = STAGED_BLOCKS * TABLE_NUMBERS * 4;

/** Sums, candidates, candidates' sums; then staged blocks, narrowed distances, and the table of blocks. */
const STAGE_AT = 3 * 4 * WINDOW;
const NARROWED_AT = STAGE_AT + STAGED_BYTES;
const TABLE_AT = NARROWED_AT + NARROWED_BYTES;
const { buffer, kernel } = sumKernel(TABLE_AT + TABLE_BYTES, 4 * WINDOW);
const sums = new Int32Array(buffer, 0, WINDOW);
const candidatesAt = new Int32Array(buffer, 4 * WINDOW, WINDOW);
const candidatesSums = new Int32Array(buffer, 8 * WINDOW, WINDOW);
const staged = new Uint8Array(buffer, STAGE_AT, STAGED_BYTES);
const narrowed = new Uint16Array(buffer, NARROWED_AT, NARROWED_BYTES / 2);
const table = new Int32Array(buffer, TABLE_AT, TABLE_BYTES / 4);

/** Passages of which one mark tells whether any may have a sum. */
const MARK_SHIFT = 9;
const PER_MARK = 1 << MARK_SHIFT; // a multiple of the kernel's SCAN_STEP
const marks = new Uint8Array(WINDOW / PER_MARK);

let queued = 0;

/** Copies the bytes of consecutive blocks to where they can be added from. @returns what `queueBlock` counts from. */
export function stageBlocks(bytes: Uint8Array): void {
  staged.set(bytes);
}

/** A stretch of a staged block: offsets in the staged bytes of its distances (u16) and impacts (u8), and how many. */
export interface StagedPostings {
  distances: number;
  impacts: number;
  count: number;
}

/**
 * Queues postings for `addQueued`.
 * @param first distance of the first one's passage from the window's start; `last` that of the last one's.
 * @param shift what is to be added to the staged distances; null when `narrowDistance` has given them instead.
 */
export function queuePostings(
  { distances, impacts, count }: StagedPostings,
  { first, last }: { first: number; last: number },
  shift: number | null,
): void {
  const from = shift === null ? NARROWED_AT + 2 * BLOCK * (queued >> 2) : STAGE_AT + distances;
  table[queued] = from;
  table[queued + 1] = STAGE_AT + impacts;
  table[queued + 2] = from + 2 * count;
  table[queued + 3] = 4 * (shift ?? 0);
  queued += TABLE_NUMBERS;
  for (let mark = first >> MARK_SHIFT; mark <= last >> MARK_SHIFT; mark++) marks[mark] = 1;
}

/** Where the distances of the next queued postings go when they are not staged as they are. */
export function narrowDistance(i: number, distance: number): void {
  narrowed[BLOCK * (queued >> 2) + i] = distance;
}

/** Adds `weight` times each queued impact to the sums: of all passages, or only where there is a sum already. */
export function addQueued(weight: number, to: "all" | "summed"): void {
  if (queued === 0) return;
  const end = TABLE_AT + 4 * queued;
  queued = 0;
  if (to === "all") kernel.addAll(TABLE_AT, end, weight);
  else kernel.addSummed(TABLE_AT, end, weight);
}

/** Passages that may still be among the best. There is one list, beside the accumulator. */
export const candidates = {
  /** Distances from the window's start; ascending. */
  at: candidatesAt,
  sums: candidatesSums,
  count: 0,
};

/** Keeps track of the k-th largest of the sums it is given: what lies far enough below it is of no interest any more. */
export interface Floor {
  /** Sums must exceed it to be candidates. */
  readonly limit: number;
  /** Sums that do not exceed it change nothing. */
  readonly least: number;
  /** @param at distance of the sum's passage from the window's start. */
  raise(sum: number, at: number): void;
}

/** Makes the passages whose sum exceeds the floor the candidates; clears the accumulator. */
export function takeCandidates({ to, start }: Window, floor: Floor): void {
  const last = (to - 1 - start) >> MARK_SHIFT;
  let count = 0;
  for (let mark = 0; mark <= last; mark++) {
    if (marks[mark] === 0) continue;
    marks[mark] = 0;
    const from = mark << MARK_SHIFT;
    const out = kernel.scan(
      4 * from,
      4 * (from + PER_MARK),
      floor.limit,
      from,
      candidatesAt.byteOffset + 4 * count,
    );
    const before = count;
    count = (out - candidatesAt.byteOffset) >> 2;
    const least = floor.least;
    for (let i = before; i < count; i++) {
      if (candidatesSums[i]! > least) floor.raise(candidatesSums[i]!, candidatesAt[i]!);
    }
  }
  candidates.count = count;
}

/** Gives candidates their sums back, for `addToSummed`; `takeSums` must follow. */
export function putSums(): void {
  const { at, sums: own, count } = candidates;
  for (let i = 0; i < count; i++) sums[at[i]!] = own[i]!;
}

/** Takes the candidates' sums out of the accumulator again. */
export function takeSums(): void {
  const { at, sums: own, count } = candidates;
  for (let i = 0; i < count; i++) {
    own[i] = sums[at[i]!]!;
    sums[at[i]!] = 0;
  }
}

/** Drops the candidates whose sum does not exceed a limit. */
export function keepAbove(limit: number): void {
  const { at, sums: own } = candidates;
  let kept = 0;
  for (let i = 0; i < candidates.count; i++) {
    const sum = own[i]!;
    if (sum <= limit) continue;
    at[kept] = at[i]!;
    own[kept] = sum;
    kept += 1;
  }
  candidates.count = kept;
}

/** After a search that broke off. */
export function clearAccumulator(): void {
  sums.fill(0);
  marks.fill(0);
  queued = 0;
}
