import type { TopK } from "../top-k.ts";
import { isSet } from "./dead-file.ts";
import type { Bm25Tables } from "./formula.ts";
import { BLOCK } from "./postings-format.ts";
import type { TermPostings } from "./term-postings.ts";

/** A term of a query within one segment. */
export interface WeightedTerm {
  postings: TermPostings;
  /** Weight in the corpus times the term's occurrences in the query, above 0. */
  weight: number;
}

/** What is searched: one segment's passages. */
export interface SearchedSegment {
  /** [N] terms per passage. */
  readonly lengths: Uint32Array;
  /** Position of its first passage in the whole corpus. */
  readonly base: number;
  /** Bit p of word p >> 5 is set when passage p is deleted; null when none is. */
  readonly dead: Uint32Array | null;
}

/** Passages scored together. A multiple of 32. */
const WINDOW = 4096;

/** Sums of bounds are compared with a sum of scores that was rounded in another order. */
const SLACK = 1 + 1e-9;

/**
 * Exact top-k over one segment that leaves out what cannot reach the k best: MaxScore over windows with block bounds.
 *
 * Terms are ordered by weight. In a window of 4 096 passages the first few of them (the essential ones: without them
 * no passage can beat the worst of the k best so far) add their scores to an accumulator; the passages they touched
 * are then looked up in the other terms, until the bounds of those left tell that it is not worth while. Which terms
 * are essential is decided per window, from the bounds of the blocks in it.
 *
 * Every passage's score is summed in the order of the terms however they are divided, so equal inputs give equal bits.
 *
 * Source: MaxScore, Turtle and Flood 1995; block bounds, Ding and Suel 2011; windows as in Lucene's MaxScoreBulkScorer.
 *
 * @param terms by weight, largest first.
 * @param scale bounds are multiplied by it: above 1 when the mean length has grown since they were written.
 */
export function maxScore(
  terms: readonly WeightedTerm[],
  segment: SearchedSegment,
  tables: Bm25Tables,
  { top, scale }: { top: TopK; scale: number },
): void {
  const cursors = terms.map(({ postings, weight }, i) => {
    const cursor = (pool[i] ??= new Cursor());
    cursor.start(postings, weight, scale * SLACK);
    return cursor;
  });
  try {
    searchWindows(cursors, segment, tables, top);
  } catch (error) {
    // A block that cannot be read must not leave its neighbours' scores to the next search.
    scores.fill(0);
    marks.fill(0);
    throw error;
  }
}

function searchWindows(
  cursors: readonly Cursor[],
  segment: SearchedSegment,
  tables: Bm25Tables,
  top: TopK,
): void {
  const count = segment.lengths.length;
  const rest = new Float64Array(cursors.length + 1);
  for (let from = 0; from < count;) {
    sumFromEnd(cursors, rest, (cursor) => cursor.bound);
    const essential = firstAtMost(rest, top.threshold);
    from = nextPassage(cursors, essential, from);
    const to = Math.min(count, from - (from % WINDOW) + WINDOW);
    if (from >= count) return;
    for (const cursor of cursors) cursor.enter(from, to);
    sumFromEnd(cursors, rest, (cursor) => cursor.windowBound);
    const added = firstAtMost(rest, top.threshold);
    if (added > 0) {
      const window = { from, to, start: from - (from % WINDOW) };
      for (let i = 0; i < added; i++) cursors[i]!.addTo(window, segment.lengths, tables);
      collect(cursors, { added, rest, window }, segment, { tables, top });
    }
    from = to;
  }
}

interface Window {
  from: number;
  to: number;
  /** A multiple of the window's size: where the accumulator begins. */
  start: number;
}

/** [i] the sum of bounds from term i to the last. */
function sumFromEnd(
  cursors: readonly Cursor[],
  rest: Float64Array,
  bound: (cursor: Cursor) => number,
): void {
  rest[cursors.length] = 0;
  for (let i = cursors.length - 1; i >= 0; i--) rest[i] = rest[i + 1]! + bound(cursors[i]!);
}

/** How many terms from the first on are needed to beat the threshold: the rest together cannot. */
function firstAtMost(rest: Float64Array, threshold: number): number {
  let i = rest.length - 1;
  while (i > 0 && rest[i - 1]! <= threshold) i--;
  return i;
}

/** The first passage, from `from` on, that one of the essential terms has; Infinity when there is none. */
function nextPassage(cursors: readonly Cursor[], essential: number, from: number): number {
  let next = Infinity;
  for (let i = 0; i < essential && next > from; i++) {
    next = Math.min(next, cursors[i]!.nextPassage(from));
  }
  return next;
}

interface Candidates {
  /** Terms whose scores are in the accumulator. */
  added: number;
  rest: Float64Array;
  window: Window;
}

/** Offers the window's passages, completed by the terms that are not in the accumulator yet; clears the accumulator. */
function collect(
  cursors: readonly Cursor[],
  { added, rest, window }: Candidates,
  segment: SearchedSegment,
  { tables, top }: { tables: Bm25Tables; top: TopK },
): void {
  const { start } = window;
  const { lengths } = segment;
  const words = Math.ceil((window.to - start) / 32);
  let threshold = top.threshold;
  const possible = rest[added]!;
  for (let word = (window.from - start) >> 5; word < words; word++) {
    let bits = marks[word]!;
    if (bits === 0) continue;
    marks[word] = 0;
    while (bits !== 0) {
      const bit = 31 - Math.clz32(bits & -bits);
      bits &= bits - 1;
      const at = 32 * word + bit;
      let score = scores[at]!;
      scores[at] = 0;
      if (score + possible <= threshold) continue;
      const passage = start + at;
      score = complete(cursors, { added, rest, threshold, passage, score }, lengths, tables);
      if (score <= threshold || isSet(segment.dead, passage)) continue;
      top.offer(segment.base + passage, score);
      threshold = top.threshold;
    }
  }
}

interface Candidate {
  added: number;
  rest: Float64Array;
  threshold: number;
  passage: number;
  score: number;
}

function complete(
  cursors: readonly Cursor[],
  { added, rest, threshold, passage, score }: Candidate,
  lengths: Uint32Array,
  { shifts, penalties, presence }: Bm25Tables,
): number {
  const length = lengths[passage]!;
  let sum = score;
  for (let i = added; i < cursors.length; i++) {
    if (sum + rest[i]! <= threshold) return 0;
    const cursor = cursors[i]!;
    const tf = cursor.frequency(passage);
    if (tf === 0) continue;
    sum += cursor.weight * ((tf + shifts[length]!) / (tf + penalties[length]!) + presence);
  }
  return sum;
}

/** The first of ascending values that is not below `value`; `size` when all are. */
function firstNotBelow(values: Uint32Array, size: number, value: number): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One buffer for all searches: a search is synchronous, and leaves it at 0. */
const scores = new Float64Array(WINDOW);

/** A bit for each passage of the window that has a score. */
const marks = new Uint32Array(WINDOW / 32);

/** A term's place in its postings, which only moves forward. Used again by the next search. */
class Cursor {
  weight = 0;
  /** The most that the term can add to any passage, and to one of the window. */
  bound = 0;
  windowBound = 0;
  private postings!: TermPostings;
  private scale = 0;
  /** First block that does not end before the window. */
  private block = 0;
  /** Block that lookups are in, not before `block`. */
  private looked = 0;
  /** Block that is unpacked. */
  private unpacked = -1;
  readonly passages = new Uint32Array(BLOCK);
  readonly frequencies = new Uint16Array(BLOCK);

  start(postings: TermPostings, weight: number, scale: number): void {
    this.postings = postings;
    this.weight = weight;
    this.scale = weight * scale;
    this.bound = this.scale * postings.bound;
    this.block = 0;
    this.looked = 0;
    this.unpacked = -1;
  }

  /** The first passage from `from` on; Infinity when there is none. */
  nextPassage(from: number): number {
    const { postings } = this;
    this.skipTo(from);
    if (this.block === postings.blocks) return Infinity;
    const { passages } = this;
    this.unpack(this.block);
    return passages[firstNotBelow(passages, postings.size(this.block), from)]!;
  }

  /** Moves to a window and finds its bound. */
  enter(from: number, to: number): void {
    this.skipTo(from);
    const { lasts, bounds, blocks } = this.postings;
    let most = 0;
    for (let i = this.block; i < blocks; i++) {
      if (i > 0 && lasts[i - 1]! + 1 >= to) break;
      if (bounds[i]! > most) most = bounds[i]!;
    }
    this.windowBound = this.scale * most;
  }

  /** Adds the term's scores of the window's passages to the accumulator. */
  addTo({ from, to, start }: Window, lengths: Uint32Array, tables: Bm25Tables): void {
    const { lasts, blocks } = this.postings;
    for (let i = this.block; i < blocks; i++) {
      if (i > 0 && lasts[i - 1]! + 1 >= to) return;
      this.unpack(i);
      const size = this.postings.size(i);
      const { passages } = this;
      const begin = firstNotBelow(passages, size, from);
      const end = lasts[i]! < to ? size : firstNotBelow(passages, size, to);
      addScores(this, { begin, end, start }, lengths, tables);
    }
  }

  /** How often a passage has the term. Passages must come in ascending order. */
  frequency(passage: number): number {
    const { lasts, blocks } = this.postings;
    let { looked } = this;
    if (looked < this.block) looked = this.block;
    while (looked < blocks && lasts[looked]! < passage) looked++;
    this.looked = looked;
    return looked === blocks ? 0 : this.postings.frequency(looked, passage);
  }

  private skipTo(from: number): void {
    const { lasts, blocks } = this.postings;
    let { block } = this;
    while (block < blocks && lasts[block]! < from) block++;
    this.block = block;
  }

  private unpack(block: number): void {
    if (this.unpacked === block) return;
    this.postings.read(block, this.passages, this.frequencies);
    this.unpacked = block;
  }
}

const pool: Cursor[] = [];

/** The hot loop, apart from its caller: inlined there it compiles to code three times as slow (Node 20). */
function addScores(
  { passages, frequencies, weight }: Cursor,
  { begin, end, start }: { begin: number; end: number; start: number },
  lengths: Uint32Array,
  { shifts, penalties, presence }: Bm25Tables,
): void {
  for (let i = begin; i < end; i++) {
    const passage = passages[i]!;
    const tf = frequencies[i]!;
    const length = lengths[passage]!;
    const at = passage - start;
    scores[at] =
      scores[at]! + weight * ((tf + shifts[length]!) / (tf + penalties[length]!) + presence);
    marks[at >> 5]! |= 1 << (at & 31);
  }
}
