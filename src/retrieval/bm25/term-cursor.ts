import type { Accumulator, AddOptions, Window } from "./accumulator.ts";
import { BLOCK, MOST_IMPACT } from "./postings-format.ts";
import { WINDOW } from "./sum-layout.ts";
import type { TermPostings } from "./term-postings.ts";

/** A term of a query within one segment. */
export interface WeightedTerm {
  postings: TermPostings;
  /** Weight in the corpus times the term's occurrences in the query, above 0. */
  weight: number;
}

/** A term's place in its postings. Windows only move forward. */
export class TermCursor {
  readonly weight: number;
  /** The most that the term can add to any passage. */
  readonly bound: number;
  /** The same as a sum; and within the window. */
  most = 0;
  windowMost = 0;
  /** What an impact of 1 adds to a sum. */
  step = 0;
  /** Its postings in the window, at most. */
  windowPostings = 0;
  private readonly postings: TermPostings;
  /** First block that does not end before the window, and the one behind its last. */
  private block = 0;
  private end = 0;

  constructor({ postings, weight }: WeightedTerm, scale: number) {
    this.postings = postings;
    this.weight = weight;
    this.bound = weight * scale * postings.skips.bound;
  }

  /** Fixes the unit of sums. */
  weigh(unit: number): void {
    this.step = Math.ceil(this.bound / MOST_IMPACT / unit);
    this.most = MOST_IMPACT * this.step;
  }

  /** No passage from `from` up to this one has the term; Infinity when none from `from` on has. */
  nextPassage(from: number): number {
    const { skips } = this.postings;
    this.block = skips.seek(this.block, from);
    if (this.block === skips.blocks) return Infinity;
    const base = skips.base(this.block);
    // Looking into a block costs more than looking at a few passages too many.
    const isClose = skips.last(this.block) - base < WINDOW;
    return isClose ? Math.max(from, base) : this.postings.nextPassage(this.block, from);
  }

  /** Moves to a window. @returns the most that the term can add to a sum there. */
  enter({ from, to }: Window): number {
    const { skips } = this.postings;
    this.block = skips.seek(this.block, from);
    const last = skips.seek(this.block, to - 1);
    // The block that reaches the window's end may begin behind it.
    this.end = last < skips.blocks && skips.base(last) < to ? last + 1 : last;
    const most = skips.boundOf(this.block, this.end);
    this.windowPostings = (this.end - this.block) * BLOCK;
    // Impacts are rounded up from the same numbers, so a block's largest is this one or less.
    const impact = Math.ceil((most * MOST_IMPACT) / skips.bound);
    this.windowMost = Math.min(MOST_IMPACT, impact + 1) * this.step;
    if (most === 0) this.windowMost = 0;
    return this.windowMost;
  }

  /** Adds the term's impacts in the window to the accumulator. */
  addTo(window: Window, to: AddOptions["to"], accumulator: Accumulator): void {
    const { block, end, step: weight } = this;
    this.postings.addImpacts(block, end, { accumulator, window, weight, to });
  }

  /** What the term adds to the sum of a passage of the window. */
  sumOf(passage: number): number {
    const block = this.postings.skips.seekAmong(this.block, this.end, passage);
    return block === this.end ? 0 : this.step * this.postings.impact(block, passage);
  }

  /** How often a passage of the window has the term. */
  frequency(passage: number): number {
    const block = this.postings.skips.seekAmong(this.block, this.end, passage);
    return block === this.end ? 0 : this.postings.frequency(block, passage);
  }
}
