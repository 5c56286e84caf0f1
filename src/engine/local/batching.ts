import { common, sharedOrder } from "./shared-order.ts";
import { type TrainingRow, isScored } from "../engine.ts";

/** Rows of one run. Tokens that begin several of them alike are computed once (`TokenTree`). */
export interface MicroBatch {
  /** Each computes anew what it does not share with the row before it. */
  rows: number[];
  /** N: distinct tokens. */
  tokens: number;
  /** T: tokens of the longest row. */
  length: number;
  /** K: scored targets. */
  scored: number;
}

export interface Packing {
  /** Most tokens of a run, and most places of its rows by the longest; a longer row runs alone. */
  maxTokens: number;
  /** Workers among which runs are dealt; default 1. */
  workers?: number;
  /** D: hidden size of the model, by which attention costs less beside the rest; default 128. */
  width?: number;
}

/** What a run costs beside its tokens, in tokens: 35 where scores are computed, 85 where gradients are (docs/lab-log.md). */
const RUN_COST = 64;
/** Parts of `maxTokens` that are tried: shorter runs are dealt more evenly. */
const PARTS = [1, 3 / 4, 1 / 2, 1 / 3, 1 / 4] as const;

/**
 * Divides rows into runs, for the least work of the busiest worker: rows that begin alike together, and rows of like length. Deterministic.
 * @returns the runs of each worker.
 */
export function microBatches(
  rows: readonly TrainingRow[],
  { maxTokens, workers = 1, width = 128 }: Packing,
): MicroBatch[][] {
  const inputs = rows.map((row) => row.inputs);
  const order = sharedOrder(inputs).map((row, i, all): OrderedRow => {
    const shared = i === 0 ? 0 : common(inputs[all[i - 1]!]!, inputs[row]!);
    return { row, length: inputs[row]!.length, shared };
  });
  const best = PARTS.map((part) =>
    dealtOut(divided(order, { maxTokens: Math.floor(part * maxTokens), width }), workers),
  ).reduce((found, each) => (each.busiest < found.busiest ? each : found));
  return best.runs.map((own) => own.map(({ rows: members }) => microBatch(rows, members)));
}

/** A row among the others, and how many tokens it shares with the one before it. */
interface OrderedRow {
  row: number;
  length: number;
  shared: number;
}

/** Cost of a run in tokens. Attention over a row of T places costs as much as T² / (6 D) tokens more: measured at D = 128. */
function costOf(tokens: number, rows: number, length: number, width: number): number {
  return tokens + (rows * length * length) / (6 * width) + RUN_COST;
}

interface Run {
  rows: readonly number[];
  cost: number;
}

/** The cheapest division of the ordered rows into runs. */
function divided(
  order: readonly OrderedRow[],
  { maxTokens, width }: Required<Pick<Packing, "maxTokens" | "width">>,
): Run[] {
  // Of the first `end` rows: the least cost, and where their last run begins.
  const least: { cost: number; from: number }[] = [{ cost: 0, from: 0 }];
  for (let end = 1; end <= order.length; end++) {
    let found = { cost: Infinity, from: end - 1 };
    let tokens = 0;
    let longest = 0;
    for (let from = end - 1; from >= 0; from--) {
      const { length } = order[from]!;
      longest = Math.max(longest, length);
      tokens += from === end - 1 ? length : length - order[from + 1]!.shared;
      const count = end - from;
      if (count > 1 && Math.max(tokens, count * longest) > maxTokens) break;
      const cost = least[from]!.cost + costOf(tokens, count, longest, width);
      if (cost < found.cost) found = { cost, from };
    }
    least.push(found);
  }
  const runs: Run[] = [];
  for (let end = order.length; end > 0; end = least[end]!.from) {
    const { cost, from } = least[end]!;
    const rows = order.slice(from, end).map(({ row }) => row);
    runs.push({ rows, cost: cost - least[from]!.cost });
  }
  return runs.reverse();
}

interface Dealt {
  runs: Run[][];
  busiest: number;
}

/** The costliest run first, each to the worker that has the least. */
function dealtOut(runs: readonly Run[], workers: number): Dealt {
  const all = Array.from({ length: workers }, () => ({ own: [] as Run[], cost: 0 }));
  for (const run of runs.toSorted((a, b) => b.cost - a.cost)) {
    const least = all.reduce((found, each) => (each.cost < found.cost ? each : found));
    least.own.push(run);
    least.cost += run.cost;
  }
  return { runs: all.map(({ own }) => own), busiest: Math.max(...all.map(({ cost }) => cost)) };
}

/** A run of these rows, in this order. */
export function microBatch(rows: readonly TrainingRow[], members: readonly number[]): MicroBatch {
  const inputs = members.map((row) => rows[row]!.inputs);
  const tokens = inputs.map(
    (each, i) => each.length - (i === 0 ? 0 : common(inputs[i - 1]!, each)),
  );
  const scored = members.map((row) => scoredCount(rows[row]!));
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
  const length = Math.max(...inputs.map((each) => each.length));
  return { rows: [...members], tokens: sum(tokens), length, scored: sum(scored) };
}

/** The largest run of rows of this many tokens with this share of scored tokens, which have nothing in common. */
export function largestRun(
  rowTokens: number,
  maxTokens: number,
  scoredShare: number,
): { tokens: number; batch: number; length: number; scored: number } {
  const batch = Math.max(1, Math.floor(maxTokens / rowTokens));
  const tokens = batch * rowTokens;
  return { tokens, batch, length: rowTokens, scored: Math.ceil(scoredShare * tokens) };
}

function scoredCount(row: TrainingRow): number {
  return row.targets.reduce((count, _, target) => count + Number(isScored(row, target)), 0);
}
