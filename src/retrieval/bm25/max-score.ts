import type { TopK } from "../top-k.ts";
import { type Accumulator, type Window, sumFloor, type SumFloor } from "./accumulator.ts";
import { isSet } from "./dead-file.ts";
import type { Bm25Tables } from "./formula.ts";
import { MOST_IMPACT } from "./postings-format.ts";
import { WINDOW } from "./sum-kernel.ts";
import { TermCursor, type WeightedTerm } from "./term-cursor.ts";

export interface SearchedSegment {
  /** [N] terms per passage. */
  readonly lengths: Uint32Array;
  /** Position of its first passage in the whole corpus. */
  readonly base: number;
  /** Bit p of word p >> 5 is set when passage p is deleted; null without deletions. */
  readonly dead: Uint32Array | null;
}

/** Working memory and results of a search. */
export interface SearchState {
  accumulator: Accumulator;
  top: TopK;
  /** Capacity of `top`. */
  k: number;
  /** Factor for impacts and bounds: above 1 when the mean length has grown since they were written. */
  scale: number;
  /** Lower bound of the true share of the scaled values. */
  certain: number;
}

/**
 * Exact top-k over one segment that skips passages outside the k best: MaxScore over windows with block bounds.
 *
 * Terms are ordered by weight. In each window, the essential terms (without them no passage can beat the worst of the k
 * best so far) add their impacts to an accumulator; the other terms, one after the other, complete the passages that
 * may still be among the best, which become fewer each time. Impacts are rounded up to integers, so a sum is never
 * less than the score; the remaining passages are scored exactly. The bounds of a window's blocks determine the
 * essential terms.
 *
 * Every score is a float64 sum in the order of the terms, so equal inputs give equal bits.
 *
 * Source: MaxScore, Turtle and Flood 1995; block bounds, Ding and Suel 2011; rounded impacts, Anh and Moffat 2006.
 *
 * @param terms by weight, largest first.
 */
export function maxScore(
  terms: readonly WeightedTerm[],
  segment: SearchedSegment,
  tables: Bm25Tables,
  state: SearchState,
): void {
  const cursors = terms.map((term) => new TermCursor(term, state.scale * SLACK));
  const total = cursors.reduce((sum, { bound }) => sum + bound, 0);
  const unit = total / MOST_SUM;
  for (const cursor of cursors) cursor.weigh(unit);
  try {
    const count = segment.lengths.length;
    for (let from = 0; from < count;) {
      const start = nextPassage(cursors, from, state.top.threshold / unit);
      if (start >= count) return;
      const to = Math.min(count, start + WINDOW);
      searchWindow(cursors, { from: start, to, start }, segment, { tables, unit, ...state });
      from = to;
    }
  } catch (error) {
    // After an unreadable block, the next search must not see leftover sums.
    state.accumulator.clear();
    throw error;
  }
}

/** Sums are compared with scores that were rounded in another order. */
const SLACK = 1 + 1e-9;

/** Upper limit of sums, except for the number of terms times 255: sums are 32-bit integers. */
const MOST_SUM = 1 << 29;

interface WindowState extends SearchState {
  tables: Bm25Tables;
  /** The score of a sum of 1. */
  unit: number;
}

/**
 * No passage from `from` up to this one has an essential term. Infinity when no later passage has one. Terms are essential
 * when the bounds of all others do not exceed the limit.
 */
function nextPassage(cursors: readonly TermCursor[], from: number, limit: number): number {
  let rest = 0;
  for (const cursor of cursors) rest += cursor.most;
  let next = Infinity;
  for (let i = 0; i < cursors.length && rest > limit && next > from; i++) {
    const cursor = cursors[i]!;
    next = Math.min(next, cursor.nextPassage(from));
    rest -= cursor.most;
  }
  return next;
}

function searchWindow(
  cursors: readonly TermCursor[],
  window: Window,
  segment: SearchedSegment,
  state: WindowState,
): void {
  const { top, unit, accumulator } = state;
  let rest = 0;
  for (const cursor of cursors) rest += cursor.enter(window);
  const limit = Math.floor(top.threshold / unit);
  if (rest <= limit) return;
  const essential = addEssential(cursors, window, segment, { ...state, limit, rest });
  let { added } = essential;
  rest = essential.rest;
  for (; added < cursors.length && accumulator.candidates > 0; added++) {
    const cursor = cursors[added]!;
    rest -= cursor.windowMost;
    if (cursor.windowMost === 0) continue;
    complete(cursor, window, accumulator);
    accumulator.keepAbove(essential.limit - rest);
  }
  scoreCandidates(cursors, window, segment, state);
}

/**
 * Adding stops when the remaining terms add at most this share of the required score. Measured on 10⁶ passages,
 * ms per query: 0 (never) .97, .3 .94, .5 .87, .8 1.07, 1 (as early as allowed) 1.55.
 */
const LEFT_WORTH = 0.5;

/** Minimum postings of the remaining terms for stopping to pay off. 20 000 to 200 000 perform equally. */
const LEAST_LEFT = 1 << 16;

/**
 * Adds the impacts of the first terms, and makes the passages that may still be among the best the candidates.
 *
 * It adds terms at least until no passage without them can be among the best, and then until few candidates remain, because
 * completing many takes longer than adding.
 *
 * @returns the number of added terms, the maximum contribution of the others, and the limit that a sum of all terms must exceed.
 */
function addEssential(
  cursors: readonly TermCursor[],
  window: Window,
  { dead }: SearchedSegment,
  state: WindowState & { limit: number; rest: number },
): { added: number; rest: number; limit: number } {
  const { k, certain, accumulator } = state;
  let { limit, rest } = state;
  let left = 0;
  for (const cursor of cursors) left += cursor.windowPostings;
  let added = 0;
  let postings = 0;
  // Upper bound of the excess in the sums so far.
  let excess = 0;
  // The window's own k-th best is a limit too, whatever the other terms add.
  const counts = (at: number): boolean => !isSet(dead, window.start + at);
  const { heap } = accumulator;
  const floorNow = (): SumFloor => sumFloor({ heap, k, limit, rest, certain, excess, counts });
  let isKnown = limit > 0 || dead !== null;
  const learn = (): void => {
    // The best of each stretch give a lower bound of the k-th best.
    const floor = floorNow();
    accumulator.raiseByStretches(window, floor);
    limit = floor.limit;
    isKnown = true;
  };
  for (const cursor of cursors) {
    if (!isKnown && postings > 0 && left > LEAST_LEFT) learn();
    if (rest <= LEFT_WORTH * limit && left > LEAST_LEFT) break;
    added += 1;
    postings += cursor.windowPostings;
    left -= cursor.windowPostings;
    cursor.addTo(window, "all", accumulator);
    rest -= cursor.windowMost;
    excess += cursor.step + MOST_IMPACT;
  }
  if (!isKnown) learn();
  const floor = floorNow();
  accumulator.takeCandidates(window, floor);
  accumulator.keepAbove(floor.limitSoFar);
  return { added, rest, limit: floor.limit };
}

/** Scores candidates exactly, the most promising first, so that few others need scoring. */
function scoreCandidates(
  cursors: readonly TermCursor[],
  window: Window,
  segment: SearchedSegment,
  { top, unit, tables, accumulator }: WindowState,
): void {
  for (const { at, sum } of accumulator.bestCandidates()) {
    if (sum * unit <= top.threshold) return;
    const passage = window.start + at;
    if (isSet(segment.dead, passage)) continue;
    top.offer(segment.base + passage, exactScore(cursors, passage, segment.lengths, tables));
  }
}

/** Cost of one passage look-up in sequential additions, due to cache misses. 30 to 400 perform equally. */
const LOOKUP_COST = 100;

function complete(cursor: TermCursor, window: Window, accumulator: Accumulator): void {
  const { candidates } = accumulator;
  if (cursor.windowPostings < LOOKUP_COST * candidates) {
    accumulator.putSums();
    cursor.addTo(window, "summed", accumulator);
    accumulator.takeSums();
    return;
  }
  accumulator.addToCandidates((at) => cursor.sumOf(window.start + at));
}

function exactScore(
  cursors: readonly TermCursor[],
  passage: number,
  lengths: Uint32Array,
  { shifts, penalties, presence }: Bm25Tables,
): number {
  const length = lengths[passage]!;
  let score = 0;
  for (const cursor of cursors) {
    const tf = cursor.frequency(passage);
    if (tf === 0) continue;
    score += cursor.weight * ((tf + shifts[length]!) / (tf + penalties[length]!) + presence);
  }
  return score;
}
