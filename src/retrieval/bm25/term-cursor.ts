import type { Accumulator, AddOptions, Window } from "./accumulator.ts";
import { BLOCK, MOST_IMPACT } from "./postings-format.ts";
import { WINDOW } from "./sum-kernel.ts";
import type { TermPostings } from "./term-postings.ts";

export interface WeightedTerm {
  postings: TermPostings;
  /** Weight in the corpus times its occurrences in the query, above 0. */
  weight: number;
}

/** A cursor in a term's postings. Windows only move forward. */
export class TermCursor {
  readonly weight: number;
  /** Maximum contribution of the term to any passage. */
  readonly bound: number;
  /** The same as a sum; and within the window. */
  most = 0;
  windowMost = 0;
  /** Contribution of an impact of 1 to a sum. */
  step = 0;
  /** Upper bound of its postings in the window. */
  windowPostings = 0;
  private readonly postings: TermPostings;
  /** First block that ends inside or after the window, and the index after its last block. */
  private block = 0;
  private end = 0;

  constructor({ postings, weight }: WeightedTerm, scale: number) {
    this.postings = postings;
    this.weight = weight;
    this.bound = weight * scale * postings.skips.bound;
  }

  /** Sets the unit of sums. */
  weigh(unit: number): void {
    this.step = Math.ceil(this.bound / MOST_IMPACT / unit);
    this.most = MOST_IMPACT * this.step;
  }

  /** No passage from `from` up to this one has the term; Infinity when no later one has. */
  nextPassage(from: number): number {
    const { skips } = this.postings;
    this.block = skips.seek(this.block, from);
    if (this.block === skips.blocks) return Infinity;
    const base = skips.base(this.block);
    // Searching inside a block costs more than visiting a few extra passages.
    const isClose = skips.last(this.block) - base < WINDOW;
    return isClose ? Math.max(from, base) : this.postings.nextPassage(this.block, from);
  }

  /** Moves to a window. @returns the term's maximum contribution to a sum there. */
  enter({ from, to }: Window): number {
    const { skips } = this.postings;
    this.block = skips.seek(this.block, from);
    const last = skips.seek(this.block, to - 1);
    // The block that reaches the window's end may begin after it.
    this.end = last < skips.blocks && skips.base(last) < to ? last + 1 : last;
    const most = skips.boundOf(this.block, this.end);
    this.windowPostings = (this.end - this.block) * BLOCK;
    // Impacts are rounded up from the same numbers, so a block's largest is at most this.
    const impact = Math.ceil((most * MOST_IMPACT) / skips.bound);
    this.windowMost = Math.min(MOST_IMPACT, impact + 1) * this.step;
    if (most === 0) this.windowMost = 0;
    return this.windowMost;
  }

  addTo(window: Window, to: AddOptions["to"], accumulator: Accumulator): void {
    const { block, end, step: weight } = this;
    this.postings.addImpacts(block, end, { accumulator, window, weight, to });
  }

  /** The term's contribution to the sum of a passage in the window. */
  sumOf(passage: number): number {
    const block = this.postings.skips.seekAmong(this.block, this.end, passage);
    return block === this.end ? 0 : this.step * this.postings.impact(block, passage);
  }

  frequency(passage: number): number {
    const block = this.postings.skips.seekAmong(this.block, this.end, passage);
    return block === this.end ? 0 : this.postings.frequency(block, passage);
  }
}
