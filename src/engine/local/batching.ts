import type { TrainingRow } from "../engine.ts";

/** Rows run together, padded to one length. */
export interface MicroBatch {
  /** Indices into the rows that were given. */
  rows: number[];
  /** Rows of the padded shape; a shape is compiled once, so counts are few. */
  batch: number;
  /** Positions of the padded shape. */
  length: number;
  /** Positions whose targets are scored, padded: the vocabulary's scores are computed there only. */
  scored: number;
}

/** Share of a shape's positions that are scored: each shape compiled holds memory, so there are few. */
const SCORED_SHARES = [1 / 8, 1 / 4, 1 / 2, 1] as const;

/**
 * Sorts rows by length and packs neighbours into shapes of at most `maxTokens` positions, so that little padding is computed
 * and few shapes are compiled. Deterministic: equal lengths keep their order.
 *
 * @param maxTokens positions per micro-batch; a longer row gets one of its own. Small enough to stay in the processor's cache.
 * @param workers that the micro-batches are dealt to in turn: sizes are chosen so that none waits for the others.
 */
export function microBatches(
  rows: readonly TrainingRow[],
  maxTokens: number,
  workers = 1,
): MicroBatch[] {
  const order = rows
    .map((_, i) => i)
    .sort((a, b) => rows[b]!.inputs.length - rows[a]!.inputs.length || a - b);
  const batches: MicroBatch[] = [];
  let at = 0;
  let length = 0;
  let batch = 0;
  while (at < order.length) {
    const longest = paddedLength(rows[order[at]!]!);
    if (longest !== length) {
      length = longest;
      const alike = order.filter((row) => paddedLength(rows[row]!) === length).length;
      batch = batchSize(alike, Math.max(1, Math.floor(maxTokens / length)), workers);
    }
    const members = order.slice(at, at + batch);
    at += members.length;
    const scored = members.reduce((sum, row) => sum + scoredCount(rows[row]!), 0);
    const size = lastSize(batch, members.length);
    const share = SCORED_SHARES.find((each) => scored <= each * size * length) ?? 1;
    batches.push({ rows: members, batch: size, length, scored: Math.ceil(share * size * length) });
  }
  return batches;
}

/** The size, or its half, a quarter and so on: the smallest that holds what is left of the rows. */
function lastSize(size: number, left: number): number {
  const half = Math.ceil(size / 2);
  return size > 1 && left <= half ? lastSize(half, left) : size;
}

/** The largest shape that rows of so many tokens come to, of which a share is scored. */
export function microBatchShape(
  rowTokens: number,
  maxTokens: number,
  scoredShare: number,
): Omit<MicroBatch, "rows"> {
  const length = padded(rowTokens);
  const batch = Math.max(1, Math.floor(maxTokens / length));
  const share = SCORED_SHARES.find((each) => scoredShare <= each) ?? 1;
  return { batch, length, scored: Math.ceil(share * batch * length) };
}

/**
 * The largest size, or about two thirds or half of it: the one with which the busiest worker computes the fewest rows. 32 rows at
 * most 6 together on two workers: 6 gives three micro-batches of 6 each, 4 gives four of 4.
 */
function batchSize(count: number, most: number, workers: number): number {
  if (count < most) return most;
  const busiest = (size: number): number => Math.ceil(Math.ceil(count / size) / workers) * size;
  const sizes = [most, Math.ceil((2 * most) / 3), Math.ceil(most / 2)];
  return sizes.reduce((best, size) => (busiest(size) < busiest(best) ? size : best));
}

/** How many lengths are compiled, at most, for sequences of up to so many tokens. */
export function lengthsUpTo(tokens: number): number {
  let count = 0;
  for (let length = 1; length <= tokens; length = padded(length) + 1) count += 1;
  return count;
}

/** A length that is compiled: coarser steps where they are a smaller share. */
function padded(length: number): number {
  const step = length <= 512 ? 32 : length <= 1024 ? 64 : 128;
  return roundUp(length, step);
}

function paddedLength(row: TrainingRow): number {
  return padded(row.inputs.length);
}

/** Number of targets with a weight. */
function scoredCount(row: TrainingRow): number {
  return row.fields.weights.reduce((count, weight) => count + (weight === 0 ? 0 : 1), 0);
}

function roundUp(n: number, step: number): number {
  return Math.ceil(n / step) * step;
}
