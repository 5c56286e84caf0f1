import { describe, expect, it } from "vitest";
import type { TrainingRow } from "../../../src/engine/engine.ts";
import { largestRun, type MicroBatch, microBatches } from "../../../src/engine/local/batching.ts";
import { sharedOrder } from "../../../src/engine/local/shared-order.ts";

function rowOf(ids: readonly number[], weight = 1): TrainingRow {
  return { inputs: ids, targets: ids, fields: { weights: ids.map(() => weight) } };
}

/** Rows of these lengths that share nothing. */
function rows(...lengths: number[]): TrainingRow[] {
  return lengths.map((length, row) => rowOf(new Array<number>(length).fill(row)));
}

/** Sizes of the runs of each worker, the largest first. */
function sizes(dealt: readonly (readonly MicroBatch[])[]): number[][] {
  return dealt.map((own) => own.map((run) => run.rows.length).sort((a, b) => b - a));
}

describe("micro-batches", () => {
  it("are none of no rows", () => {
    expect(microBatches([], { maxTokens: 1024, workers: 2 })).toEqual([[], []]);
  });

  it("hold every row once, in runs of at most so many tokens and places", () => {
    const all = rows(...Array.from({ length: 37 }, (_, i) => 1 + ((i * 29) % 90)));
    const runs = microBatches(all, { maxTokens: 256, workers: 3 }).flat();
    expect(runs.flatMap((run) => run.rows).sort((a, b) => a - b)).toEqual([...all.keys()]);
    for (const { rows: members, tokens, length, scored } of runs) {
      const lengths = members.map((member) => all[member]!.inputs.length);
      expect(tokens).toBe(lengths.reduce((sum, each) => sum + each, 0));
      expect(scored).toBe(tokens);
      expect(length).toBe(Math.max(...lengths));
      expect(members.length * length).toBeLessThanOrEqual(256);
    }
  });

  it("give a row that is longer than a run one of its own", () => {
    const runs = microBatches(rows(500, 30, 20), { maxTokens: 128 }).flat();
    expect(runs.map((run) => run.rows)).toEqual([[0], [1, 2]]);
  });

  it("put rows of like length together, since a run's attention is as wide as its longest row", () => {
    const runs = microBatches(rows(20, 600, 22, 605, 21, 602), { maxTokens: 2048 }).flat();
    expect(runs.map((run) => run.rows)).toEqual([
      [3, 5, 1],
      [2, 4, 0],
    ]);
  });

  it("compute once what rows begin with alike, at every branch", () => {
    const prompt = Array.from({ length: 100 }, (_, i) => 1000 + i);
    const found = Array.from({ length: 50 }, (_, i) => 2000 + i);
    const all = [
      rowOf([...prompt, ...found, 1]),
      rowOf([5, 6, 7]),
      rowOf([...prompt, 2, 2]),
      rowOf([...prompt, ...found, 3, 3]),
      rowOf([...prompt, ...found]),
    ];
    const runs = microBatches(all, { maxTokens: 1024 }).flat();
    expect(runs.map((run) => run.rows)).toEqual([[3, 0, 4, 2, 1]]);
    // The prompt, what was found, and the ends 3 3, 1 and 2 2; the row that shares nothing.
    expect(runs[0]!.tokens).toBe(100 + 50 + 2 + 1 + 2 + 3);
    expect(runs[0]!.scored).toBe(152 + 151 + 150 + 102 + 3);
  });

  it("are dealt so that the busiest worker has the least work", () => {
    const alike = (count: number): TrainingRow[] => rows(...new Array<number>(count).fill(160));
    // At most 6 rows of 160 in 1024 places. 32 for two workers: 16 each.
    const both = sizes(microBatches(alike(32), { maxTokens: 1024, workers: 2 }));
    expect(both.map((own) => own.reduce((sum, each) => sum + each, 0))).toEqual([16, 16]);
    expect(sizes(microBatches(alike(6), { maxTokens: 1024, workers: 2 }))).toEqual([[3], [3]]);
    expect(sizes(microBatches(alike(12), { maxTokens: 1024, workers: 1 }))).toEqual([[6, 6]]);
  });

  it("score only targets that have a weight", () => {
    const half = { ...rowOf([1, 2, 3, 4]), fields: { weights: [0, 1, 0, 0.5] } };
    expect(microBatches([half], { maxTokens: 64 })[0]![0]!.scored).toBe(2);
  });
});

describe("the order of rows that begin alike", () => {
  it("keeps branches together and sorts them, and what shares fewer than 16 tokens more, by length", () => {
    const long = Array.from({ length: 30 }, (_, i) => i);
    const all = [[9], [...long, 7], [8, 8, 8], [...long, 7, 7, 7], [9, 9], [...long, 6, 6]];
    expect(sharedOrder(all)).toEqual([3, 5, 1, 2, 4, 0]);
  });

  it("takes equal rows, and rows that begin others", () => {
    expect(sharedOrder([[1], [1, 2], [1], [1, 2, 3]])).toEqual([3, 1, 0, 2]);
    expect(sharedOrder([])).toEqual([]);
  });
});

describe("the largest run", () => {
  it("is of as many rows as fit, or of one that is longer", () => {
    expect(largestRun(300, 1024, 0.25)).toEqual({
      tokens: 900,
      batch: 3,
      length: 300,
      scored: 225,
    });
    expect(largestRun(2000, 1024, 1)).toEqual({
      ...{ tokens: 2000, batch: 1, length: 2000, scored: 2000 },
    });
  });
});
