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

const LENGTH_STEP = 32;
/** Share of a shape's positions that are scored: each shape compiled holds memory, so there are few. */
const SCORED_SHARES = [1 / 8, 1 / 4, 1 / 2, 1] as const;

/**
 * Sorts rows by length and packs neighbours into shapes of at most `maxTokens` positions, so that little padding is computed
 * and few shapes are compiled. Deterministic: equal lengths keep their order.
 *
 * @param maxTokens positions per micro-batch; a longer row gets one of its own. Small enough to stay in the processor's cache.
 */
export function microBatches(rows: readonly TrainingRow[], maxTokens: number): MicroBatch[] {
  const order = rows
    .map((_, i) => i)
    .sort((a, b) => rows[b]!.inputs.length - rows[a]!.inputs.length || a - b);
  const batches: MicroBatch[] = [];
  let at = 0;
  while (at < order.length) {
    const length = roundUp(rows[order[at]!]!.inputs.length, LENGTH_STEP);
    const batch = Math.max(1, Math.floor(maxTokens / length));
    const members = order.slice(at, at + batch);
    at += members.length;
    const scored = members.reduce((sum, row) => sum + scoredCount(rows[row]!), 0);
    const share = SCORED_SHARES.find((each) => scored <= each * batch * length) ?? 1;
    batches.push({ rows: members, batch, length, scored: Math.ceil(share * batch * length) });
  }
  return batches;
}

/** Number of targets with a weight. */
export function scoredCount(row: TrainingRow): number {
  return row.fields.weights.reduce((count, weight) => count + (weight === 0 ? 0 : 1), 0);
}

function roundUp(n: number, step: number): number {
  return Math.ceil(n / step) * step;
}
